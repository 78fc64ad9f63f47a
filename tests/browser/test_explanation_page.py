"""The page that explanation_html() writes, in a browser."""

import subprocess
from pathlib import Path

import pytest
from chromium import BINARY, Chromium

BUILD = Path(__file__).resolve().parents[2] / "build"
PRINTER = BUILD / "explanation_page"
# Small parts that are summed up, but not the view itself.
SMALL = '.item.rest:not([aria-level="1"])'
CONTRAST = 4.5  # What WCAG asks of text.


def is_built():
    """It is in no default build, and may be of a page that was."""
    library = BUILD / "libwaybill_core.a"
    return PRINTER.exists() and PRINTER.stat().st_mtime >= library.stat().st_mtime


pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(BINARY is None, reason="there is no Chromium"),
    pytest.mark.skipif(
        not is_built(), reason=".ci/browser builds what prints the page"
    ),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Chromium(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Writes the page of so many parts and blockers; its address."""
    folder = tmp_path_factory.mktemp("pages")

    def write(parts, blockers):
        path = folder / f"{parts}-{blockers}.html"
        if not path.exists():
            command = [PRINTER, str(parts), str(blockers)]
            path.write_bytes(subprocess.run(command, capture_output=True).stdout)
        return path.as_uri()

    return write


@pytest.fixture
def load(browser, url):
    pages = []

    def opened(parts=300, blockers=2, **options):
        pages.append(browser.open(url(parts, blockers), **options))
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


def labels(page, selector=".item"):
    return page.run(
        f"""[...document.querySelectorAll({selector!r})]
            .map((item) => item.getAttribute("aria-label"))"""
    )


def item(name):
    return f'.item[aria-label^="{name},"]'


def width(page, selector):
    return page.run(f"document.querySelector('{selector}')?.offsetWidth ?? 0")


def shown(page, selector):
    return page.run(f"document.querySelector({selector!r}).innerText")


def crumbs(page):
    return shown(page, "#crumbs")


def focused(page):
    return page.run("document.activeElement.getAttribute('aria-label')") or ""


def search(page, text):
    page.run("document.querySelector('#search').focus()")
    page.type(text)
    page.wait_for("document.querySelector('#found').textContent !== ''")


def test_page_loads_without_a_complaint(load):
    page = load()

    assert len(labels(page)) > 5
    assert page.events("Runtime.exceptionThrown") == []
    assert page.events("Runtime.consoleAPICalled") == []
    assert page.events("Log.entryAdded") == []


def test_page_asks_for_nothing(load):
    page = load()

    asked = {e["request"]["url"] for e in page.events("Network.requestWillBeSent")}

    assert {address.partition(":")[0] for address in asked} <= {"file", "data"}
    assert sum(address.startswith("file:") for address in asked) == 1


def test_scripts_that_a_payload_brings_do_not_run(load):
    page = load()

    assert "<script>alert(2)</script>" in shown(page, "h1")
    assert page.events("Page.javascriptDialogOpening") == []
    page.run("""(() => {
        const script = document.createElement("script");
        script.textContent = "window.harmed = true";
        document.body.append(script);
    })()""")
    assert page.run("window.harmed") is None


def test_width_is_bytes(load):
    page = load()

    whole, half = width(page, item("forecast")), width(page, item("svc.history"))

    assert half / whole == pytest.approx(
        24_000_312
        / page.run("JSON.parse(document.querySelector('#data').textContent).bytes[0]"),
        abs=0.002,
    )


def test_click_zooms_and_escape_goes_back(load):
    page = load()
    before = width(page, item("model"))

    page.click(item("model"))

    assert width(page, item("model")) > 2 * before
    assert width(page, item("svc")) == 0
    assert "model" in crumbs(page)
    page.press("Escape")
    assert width(page, item("model")) == before
    assert "model" not in crumbs(page)


def test_breadcrumb_leads_back(load):
    page = load()
    page.click(item("model"))

    page.click("#crumbs button")

    assert width(page, item("svc")) > 0


def test_keys_move_zoom_and_go_back(load):
    page = load()
    page.run("document.querySelector('.item').focus()")

    page.press("ArrowDown")
    assert focused(page).startswith("svc,")
    page.press("ArrowRight")
    assert focused(page).startswith("model,")
    page.press("Enter")
    assert focused(page).startswith("model,")
    assert width(page, item("svc")) == 0
    page.press("Escape")
    page.press("ArrowDown")
    page.press("ArrowUp")
    assert focused(page).startswith("forecast,")


def test_panel_does_not_cover_what_has_the_focus(load):
    page = load(parts=100_000, height=420)

    page.run("[...document.querySelectorAll('.item')].pop().focus()")

    bottom, top = page.run("""[document.activeElement.getBoundingClientRect().bottom,
        document.querySelector('#details').getBoundingClientRect().top]""")
    assert bottom <= top


def test_tab_goes_from_search_to_the_chart_once(load):
    page = load()
    page.run("document.querySelector('#search').focus()")

    page.press("Tab")
    assert focused(page).startswith("forecast,")
    page.press("Tab")
    assert page.run("document.activeElement.closest('#chart')") is None


def test_pointer_and_focus_show_path_type_size_and_line(load):
    page = load()
    page.hover(item("model"))
    pointed = shown(page, "#details")

    page.run(f"document.querySelector('{item('model')}').focus()")

    assert shown(page, "#details") == pointed
    assert "forecast.__globals__['model']" in pointed
    assert "sklearn.linear_model.Ridge" in pointed
    assert "MB" in pointed
    assert "jobs/forecast.py:44 in forecast as model" in pointed


def test_what_a_part_holds_was_captured_where_that_was(load):
    page = load()

    page.hover(item("model.coef_"))

    assert "jobs/forecast.py:44 in forecast as model" in shown(page, "#details")


def test_blocker_without_bytes_is_seen_with_its_remedy(load):
    page = load()

    page.hover('.item.bad[aria-label*="database"]')

    assert width(page, '.item.bad[aria-label*="database"]') >= 10
    assert "cannot pickle 'sqlite3.Connection' object" in shown(page, "#details")
    assert "fresh=[sqlite3.Connection]" in shown(page, "#details")


def test_blockers_of_one_part_share_a_marker_where_there_is_no_room(load):
    page = load(blockers=200)

    assert any("198 objects cannot travel" in label for label in labels(page))


def test_what_holds_a_blocker_is_marked_up_to_the_root(load):
    page = load(blockers=1)

    marked = labels(page, ".item.holds")

    names = [label.partition(",")[0] for label in marked]
    assert names[:2] == ["forecast", "svc"]


def test_references_are_hatched(load):
    page = load()

    # They are small: in the chart of what is small.
    page.click(SMALL)

    assert any("by reference" in label for label in labels(page, ".item.named"))


def test_search_highlights_counts_and_sums(load):
    page = load()

    search(page, "ndarray")

    assert shown(page, "#found").startswith("2 parts, 6.4 MB (")
    hit = [label.partition(",")[0] for label in labels(page, ".item.hit")]
    assert hit == ["model.coef_", "2 small parts of model"]


def test_search_finds_a_path_of_several_steps_once(load):
    page = load()

    search(page, "clients['prod']")

    # And none of what ['prod'] holds.
    assert shown(page, "#found").startswith("1 part,")


def test_escape_in_the_search_field_empties_it_first(load):
    page = load()
    page.click(item("model"))
    search(page, "ndarray")

    page.press("Escape")
    assert shown(page, "#found") == ""
    assert "model" in crumbs(page)
    page.press("Escape")
    assert "model" not in crumbs(page)


def test_100_000_parts_are_few_rectangles(load):
    page = load(parts=100_000, blockers=40)

    assert 20 < len(labels(page)) < 5000
    assert "small parts" in " ".join(labels(page))


def test_page_of_100_000_parts_answers(load):
    page = load(parts=100_000, blockers=40)

    # Each step is given up after a minute.
    search(page, "entry")
    page.click(item("cache"))

    assert shown(page, "#found").startswith("66,000 parts, ")
    assert "cache" in crumbs(page)


def test_each_of_100_000_parts_can_be_reached(load):
    page = load(parts=100_000, blockers=0)

    small = f"{SMALL}[aria-label*=cache]"
    for _ in range(6):
        if labels(page, small):
            page.click(small)

    assert any("['k" in label for label in labels(page, ".item:not(.rest)"))


def test_path_in_a_table_leads_to_the_chart(load):
    page = load()

    page.click("#picture ~ section td[data-part] button")

    assert ".history" in crumbs(page)


def test_without_scripts_there_are_tables(load):
    page = load(scripts=False)

    assert not page.run("document.querySelector('#picture').offsetHeight")
    tables = shown(page, "main")
    assert "The chart needs JavaScript" in tables
    assert "forecast.__globals__['svc'].history" in tables
    assert "fresh=[sqlite3.Connection]" in tables
    assert "missing" in tables


def test_narrow_screen_needs_no_sideways_scrolling(load):
    page = load(width=390, height=800)

    assert page.run("document.documentElement.scrollWidth") == 390


def test_chart_follows_the_width_of_the_window(load):
    page = load()
    before = width(page, item("forecast"))

    page.resize(800, 900)

    page.wait_for(f"document.querySelector('.item').offsetWidth < {before}")


CONTRASTS = """(() => {
    const canvas = document.createElement("canvas").getContext("2d");
    const light = (colour) => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
            .map((c) => c / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
    };
    const behind = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return /, 0\\)$/.test(colour) ? behind(element.parentElement) : colour;
    };
    const words = document.querySelectorAll(
        "h1, dt, dd, label, #found, .item b, #crumbs *, #legend li, p, th, td, td *");
    return [...words].map((element) => {
        const two = [getComputedStyle(element).color, behind(element)].map(light);
        return [Math.max(...two) / Math.min(...two), element.outerHTML.slice(0, 80)];
    });
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast(load, dark):
    page = load(dark=dark)
    page.click(item("model"))

    weak = [text for ratio, text in page.run(CONTRASTS) if ratio < CONTRAST]

    assert weak == []


def test_dark_mode_has_other_colours(load):
    colours = [
        load(dark=dark).run("""["html", "#picture", ".item"].map((selector) =>
            getComputedStyle(document.querySelector(selector)).backgroundColor)""")
        for dark in (False, True)
    ]

    assert not set(colours[0]) & set(colours[1])


def test_assistive_technology_is_told_of_all(load):
    told = load().accessible()

    roles = {role for role, _ in told}
    assert {"tree", "treeitem", "searchbox", "table", "columnheader"} <= roles
    assert ("tree", "Parts by size") in told
    assert ("searchbox", "Search") in told
    assert ("table", "Largest parts") in told
    items = [name for role, name in told if role == "treeitem"]
    assert all(items)
    assert any(
        name.startswith("svc.database") or "sqlite3.Connection" in name
        for name in items
    )
