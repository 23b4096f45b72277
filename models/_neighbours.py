"""Check on import that ``nn`` is minigrad's package, before the models import it."""

from minigrad.internal import check_ours

check_ours("nn")
