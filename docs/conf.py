"""Sphinx's settings for the documentation: `make docs` writes docs/_build/html/index.html."""

import importlib.util
import logging
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "examples"))  # the gallery uses their data and helpers

project = "framework"
author = "The framework authors"
copyright = author
html_title = "framework"
html_theme = "furo"
# Lines of 100 characters fit into the column.
html_theme_options = {"light_css_variables": {"code-font-size": "0.73rem"}}
html_show_sourcelink = False
html_copy_source = False
extensions = ["myst_nb"]
exclude_patterns = ["_build", "jupyter_execute"]
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "fieldlist"]
nb_execution_mode = "cache"  # a notebook runs again if its code has changed
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "remove"  # the message that a kernel is compiled is not part of a page

# A dependency of the theme prints the INFO messages of all loggers.
logging.getLogger("traitlets").setLevel(logging.WARNING)

# Files of the repository that pages link to are not part of the site.
suppress_warnings = ["myst.xref_missing"]


def _write_reference(app):
    spec = importlib.util.spec_from_file_location("make_reference", FOLDER / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()


def _quiet_kernels(app):
    """Let kernels of notebooks print errors only: each warns that its port is not encrypted."""
    profile = Path(app.outdir).parent / "ipython/profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", "utf-8")
    os.environ["IPYTHONDIR"] = str(profile.parent)


def setup(app):
    """Write the reference before Sphinx reads the sources."""
    app.connect("builder-inited", _write_reference)
    app.connect("builder-inited", _quiet_kernels)
