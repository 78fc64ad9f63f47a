"""Links between the pages lead to files, and to headings, that are there."""

import re

import pytest
from pages import PAGES, ROOT, name_of

each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


def text_of(page):
    """A page without its fenced blocks."""
    return re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )


def anchor_of(heading):
    """What GitHub and the site call a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors_of(page):
    """The anchors of a page: headings of the levels that docs/conf.py names."""
    headings = re.findall(r"^#{1,3} (.+)$", text_of(page), re.M)
    return [anchor_of(heading) for heading in headings]


def links_of(page):
    targets = re.findall(r"\]\(([^()\s]+)\)", text_of(page))
    return [target for target in targets if not re.match(r"\w+:", target)]


def is_there(page, target):
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    return file.exists() and (not anchor or anchor in anchors_of(file))


@each_page
def test_links_lead_somewhere(page):
    assert [target for target in links_of(page) if not is_there(page, target)] == []


@each_page
def test_headings_that_links_lead_to_have_names_of_their_own(page):
    anchors = anchors_of(page)
    linked = {
        target.partition("#")[2]
        for other in PAGES
        for target in links_of(other)
        if "#" in target and (other.parent / target.partition("#")[0]).resolve() == page
    }

    assert [anchor for anchor in linked if anchors.count(anchor) > 1] == []


def test_links_are_found():
    assert sum(len(links_of(page)) for page in PAGES) > 150
    assert (
        anchor_of("`sys.modules` is [here](x.md), twice") == "sysmodules-is-here-twice"
    )
    assert not is_there(ROOT / "README.md", "docs/index.md#nothing-of-that-name")


def test_each_page_is_listed_by_the_index_or_that_of_engines():
    docs = ROOT / "docs"
    listed = {
        (docs / target.partition("#")[0]).resolve()
        for page in (docs / "index.md", docs / "integrations.md")
        for target in links_of(page)
    }

    assert {page for page in PAGES if page.parent != ROOT} - listed == {
        docs / "index.md"
    }
