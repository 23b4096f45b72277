"""Importing this looks whether ``nn`` is the package that comes with minigrad, before the models import it."""

from minigrad.internal import check_ours

check_ours("nn")
