"""Configuration of the site: Sphinx, MyST for Markdown, the theme furo, and our own small extensions."""

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "src")]

project = "rosenblatt"
author = copyright = "The rosenblatt developers"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "extensions.commands",
    "extensions.docstrings",
    "extensions.drawing",
    "extensions.examples",
    "extensions.formulas",
    "extensions.lab",
    "extensions.repository",
    "extensions.sheets",
]
# Links to what others document need lists of their pages, which are downloaded: only if asked for, as the site can be
# built without a network.
if os.environ.get("INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
exclude_patterns = ["extensions", "templates"]
templates_path = ["templates"]
default_role = "code"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "repository"]
# Names such as coef_ are attributes of many classes; lists of attributes are not links.
suppress_warnings = ["ref.python"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
# Types in docstrings are written for readers: "array-like of shape (n, d)".
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = f"rosenblatt {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["runs.js"]
html_copy_source = False
html_show_sphinx = False
