"""The generated pages of docs/ say what the code says today."""

import pytest

from docs.make_tables import HERE, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m docs.make_tables"
