"""Configuration of Sphinx; the API page is written from the ``__all__`` lists."""

import importlib
import warnings
from pathlib import Path

import skfuncpriv

project = "skfuncpriv"
copyright = "The skfuncpriv developers"
version = release = skfuncpriv.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "auto_examples/*.ipynb"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Functions, released under differential privacy",
    "fixed_sidebar": True,
    "page_width": "1080px",
}
autosummary_generate = True
# An attribute in single backticks, as in `spectrum`, may belong to several classes.
suppress_warnings = ["ref.python"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_default_options = {"members": True, "inherited-members": False}
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 10,
}
# The gallery of scikit-learn-like objects warns of nothing we could change.
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive")

API = (
    ("skfuncpriv", "Estimators, curves and displays"),
    ("skfuncpriv.privacy", "Guarantees, budget and audit"),
    ("skfuncpriv.basis", "Orthonormal bases"),
    ("skfuncpriv.summaries", "Contributions and sums"),
    ("skfuncpriv.noise", "Noise laws"),
    ("skfuncpriv.denoise", "Denoising"),
    ("skfuncpriv.curves", "Curves"),
    ("skfuncpriv.plotting", "Displays"),
    ("skfuncpriv.datasets", "Data sets"),
    ("skfuncpriv.exceptions", "Errors and warnings"),
)


def public_names(module):
    """What the module names in ``__all__``, or the classes it defines itself."""
    names = getattr(module, "__all__", None)
    if names is None:
        own = (name for name, thing in vars(module).items() if _is_own(thing, module))
        names = sorted(own)
    return [name for name in names if not name.startswith("_")]


def _is_own(thing, module):
    return isinstance(thing, type) and thing.__module__ == module.__name__


def write_api_page(path):
    """Write one section for each public module; an object is listed once."""
    lines = ["API reference", "=============", ""]
    listed = set()  # an object that two modules name is shown by the first
    for module_name, title in API:
        module = importlib.import_module(module_name)
        names = []
        for name in public_names(module):
            thing = getattr(module, name)
            if id(thing) not in listed and hasattr(thing, "__doc__"):
                listed.add(id(thing))
                names.append(name)
        if not names:
            continue
        lines += [title, "-" * len(title), "", f".. currentmodule:: {module_name}", ""]
        lines += [".. autosummary::", "   :toctree: items/", ""]
        lines += [f"   {name}" for name in names] + [""]
    text = "\n".join(lines)
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


write_api_page(Path(__file__).parent / "generated" / "api.rst")
