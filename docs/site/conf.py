# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx makes the site of docs/. Run by tools/docs."""
import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

project = "libpubsub"
release = re.search(r"project\(libpubsub VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
version = release
project_copyright = ""
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "headers", "python_api"]
exclude_patterns = ["site", "examples/*/tests"]
root_doc = "index"

autodoc_mock_imports = ["prometheus_client"] # the page is made without it

# -- pages ---------------------------------------------------------------------------------------------

myst_heading_anchors = 4
default_role = "code"
smartquotes = False
# Pages whose text lies elsewhere in the project, where it is read, too.
ELSEWHERE = {"reference/benchmarks": "bench/README.md"}

LINK = re.compile(r"\[([^][]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
ITEM = re.compile(r"^\* \[([^]]+)\]\(([^)#:]+)\)", re.M)


def read_page(app, name, content):
    """Takes the text of a page from where it lies, and makes a table of contents of the lists of an index.md."""
    elsewhere = ELSEWHERE.get(name)
    text = (ROOT / elsewhere).read_text(encoding="utf-8") if elsewhere else content[0]
    folder = posixpath.dirname(elsewhere or f"docs/{name}")
    homes = {path: f"docs/{page}.md" for page, path in ELSEWHERE.items()}

    def relink(found):
        text = "" if found[1].endswith(".md") else found[1]  # in place of the name of a file its title
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        target = posixpath.relpath(homes.get(path, path), posixpath.dirname(f"docs/{name}"))
        return f"[{text}]({target}{found[3] or ''})"

    text = LINK.sub(relink, text)
    if posixpath.basename(name) == "index":
        pages = [f"{title.replace('`', '')} <{posixpath.splitext(path)[0]}>" for title, path in ITEM.findall(text)]
        text += "\n".join(["", "```{toctree}", ":hidden:", "", *pages, "```", ""])
    content[0] = text


# -- C++ -----------------------------------------------------------------------------------------------

breathe_projects = {"libpubsub": str(ROOT / "build/docs-doxygen/xml")}
breathe_default_project = "libpubsub"
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False
maximum_signature_line_length = 96

# -- Python --------------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    # What classes have from these is Python's own.
    "inherited-members": "pybind11_object, object, int, str, dict, datetime, timedelta, tuple, Enum, BaseException",
}
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
add_module_names = False

# -- appearance ----------------------------------------------------------------------------------------

html_theme = "furo"
html_title = f"libpubsub {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def setup(app):
    app.connect("source-read", read_page)
