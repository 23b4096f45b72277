"""The configuration of the site: `make docs` builds it into out/docs/.

The pages are the Markdown files of this folder, which can be read without any site: what only the site understands stands in
comments, `<!-- site ... -->`. The reference, the course and the examples' pages are written by docs/site_pages.py,
docs/site_lessons.py and docs/site_examples.py when the build begins.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "examples")) if path not in sys.path]

from docs import (  # noqa: E402
    site_docstrings,
    site_examples,
    site_formulas,
    site_front,
    site_language,
    site_lessons,
    site_links,
    site_live,
    site_pages,
    site_sources,
)
from minigrad import __version__  # noqa: E402

project = "minigrad"
author = "the minigrad authors"
copyright = "the minigrad authors. Pages and lessons CC BY 4.0, code MIT"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["images"]
root_doc = "index"
nitpicky = False

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 100
default_role = "code"
smartquotes_action = "qe"  # not dashes: the two of --quick stay two
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
viewcode_line_numbers = True

html_theme = "furo"
html_title = f"minigrad {version}"
html_copy_source = False
html_show_sphinx = False
html_extra_path: list[str] = []
templates_path = ["templates"]
html_static_path = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("site_search.js"))  # Sphinx opens it from where it was started
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
        "sidebar/variant-selector.html",
    ]
}
html_css_files = ["site.css"]
pygments_style = "default"
pygments_dark_style = "github-dark"


def _open(app: Any, name: str, source: list[str]) -> None:
    source[0] = site_language.without_switch(name, site_pages.opened(name, source[0]))
    if name in ("course", "ja/course"):
        source[0] += site_lessons.course(ROOT, site_language.language(name))
    if name == "examples":
        source[0] += site_examples.contents(ROOT)


def setup(app: Any) -> None:
    """Generated pages before anything is read, comments opened as each page is read, formulas as MathML; then every link."""
    made = site_lessons.write(ROOT, Path(app.srcdir) / "course")
    drawn = site_examples.write(ROOT, Path(app.srcdir) / "gallery")
    app.config.html_extra_path = [str(folder) for folder in (made, drawn, site_front.write(ROOT)) if folder]
    site_pages.write(Path(app.srcdir) / "reference")
    app.connect("source-read", _open)
    site_language.setup(app, site_pages.JAPANESE)
    site_docstrings.setup(app)
    site_formulas.setup(app)
    site_live.setup(app)
    site_links.setup(app)
    site_sources.setup(app)
