"""Sphinx: the pages of this folder, and the reference of the Python package."""

import re
from pathlib import Path

import waybill

project = "waybill"
copyright = "the authors of waybill"
version = release = waybill.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["examples", "plots"]
html_theme = "furo"
html_title = f"waybill {release}"

myst_heading_anchors = 3
# Pages link to sources, which are read where the sources are.
suppress_warnings = ["myst.xref_missing"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}


def add_contents(app, name, source):
    """The list of pages for the side bar, which index.md has as a table for people."""
    if name == "index":
        folder = Path(__file__).parent
        pages = [
            str(path.relative_to(folder).with_suffix(""))
            for path in sorted(
                [*folder.glob("*.md"), *folder.glob("integrations/*.md")]
            )
            if path.stem != name
        ]
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", "", *pages, "```", ""])


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
