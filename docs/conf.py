"""The site: Sphinx reads the Markdown of this folder with MyST. `./bootstrap docs` runs it.

Nothing of a page comes from elsewhere at view time: formulas are MathML, and the theme is local."""

import os
import pathlib
import re
import sys

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer

DOCS = pathlib.Path(__file__).parent
ROOT = DOCS.parent
BUILD = pathlib.Path(os.environ.get("NB_BUILD", ROOT / "build"))

project = "nanobragg-mlir"
author = "the authors of nanobragg-mlir"
copyright = author
release = re.search(r"project\(NanoBragg VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["man"]
smartquotes = False  # -- is two dashes of a flag
default_role = "literal"  # in docstrings

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
# make_site.py runs the notebooks, with its own kernel.
nb_kernel_rgx_aliases = {".*": "nanobragg"}
# It needs the package mlir, which the Python of the system lacks.
nb_execution_excludepatterns = ["examples/python/python_pass.ipynb"]
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# Pages of mlir-tblgen begin with headings of any level.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

html_theme = "furo"
html_title = f"nanobragg-mlir {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "default"

# The Python API is read from the docstrings of the package that the build made.
sys.path.insert(0, str(BUILD / "python"))
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["torch", "jax", "nanobragg._jax_primitives"]


def inline_math(self, node):
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_math(self, node):
    self.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def readable(app, what, name, thing, options, lines):
    """Docstrings are plain text: an indented block is code, and under "Fields:" a list."""
    out, fields, code = [], False, False
    for line in lines:
        text, indented = line.strip(), line.startswith("    ")
        if text in ("Fields:", "Arguments:"):
            fields = True
            out += [text, ""]
            continue
        if text and not indented:
            fields = code = False
        if fields and re.match(r"\w+: ", text):
            field, _, rest = text.partition(": ")
            line = f"* `{field}`: {rest}"
        elif fields and text:
            line = f"  {text}"
        elif indented and not code and out and not out[-1].strip():
            out += ["::", ""]
            code = True
        out.append(line)
    lines[:] = out


def inside(app, name, source):
    """The root's Markdown is part of a site in pages that include it. Folders, and Markdown elsewhere,
    are not: their links become text, which is their path."""
    pages = {"README.md": "index", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
    folder = (DOCS / name).parent
    if name in ("changelog", "contributing", "security", "conduct"):
        folder = ROOT  # the folder of the page that they include

    def link(match):
        path = (folder / match[2]).resolve()
        if path.parent == ROOT and path.name in pages:
            return f"[{match[1]}]({os.path.relpath(DOCS / pages[path.name], DOCS / name / '..')}.md)"
        outside = path.suffix == ".md" and DOCS not in path.parents
        return f"`{match[1].strip('`')}`" if path.is_dir() or outside else match[0]

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#:]+)\)", link, source[0])


def setup(app):
    for language in ("mlir", "tablegen", "pdll"):
        app.add_lexer(language, TextLexer)
    app.add_html_math_renderer("mathml", (inline_math, None), (displayed_math, None))
    app.connect("autodoc-process-docstring", readable)
    app.connect("source-read", inside)
    app.connect("include-read", lambda app, path, name, text: inside(app, name, text))
