"""Sphinx: the pages of this folder, and the reference of the Python package."""

import re

import waybill

project = "waybill"
copyright = "the authors of waybill"
version = release = waybill.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["examples", "plots"]
html_static_path = ["static"]
html_css_files = ["narrow.css"]
html_theme = "furo"
html_title = f"waybill {release}"

myst_heading_anchors = 3
# Pages link to sources, which are read where the sources are.
suppress_warnings = ["myst.xref_missing"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}


def table_of_contents(pages, caption=None):
    """Lines that put pages into the side bar and nothing into the page."""
    caption = [f":caption: {caption}"] if caption else []
    return "\n".join(
        ["", "", "```{toctree}", ":hidden:", *caption, "", *pages, "```", ""]
    )


def add_contents(app, name, source):
    """The side bar has the groups and the order of index.md. The page about engines has
    a page for each below it, in the order of its table."""
    if name == "index":
        for group in re.split(r"^## ", source[0], flags=re.M)[1:]:
            title, _, table = group.partition("\n")
            pages = re.findall(r"^\| \[[^\]]+\]\((\w+)\.md\)", table, re.M)
            if pages:
                source[0] += table_of_contents(pages, title)
    elif name == "integrations":
        pages = re.findall(r"\((integrations/\w+)\.md\)", source[0])
        source[0] += table_of_contents(dict.fromkeys(pages))


def link_headers(app, name, source):
    """The headers are links into their reference, which .ci/docs makes by Doxygen."""

    def link(match):
        text, header = match.groups()
        words = re.sub(r"`(.+?)`", r"<code>\1</code>", text)
        # So Doxygen names its pages.
        page = f"{header.replace('_', '__')}_8h" if header else "index"
        return f'<a href="cpp/{page}.html">{words}</a>'

    headers = r"\[([^\[\]]+)\]\(\.\./include/waybill(?:/(\w+)\.h)?\)"
    source[0] = re.sub(headers, link, source[0])


def setup(app):
    app.connect("source-read", link_headers)
    app.connect("source-read", add_contents)
