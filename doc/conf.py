"""Configuration of Sphinx; the API page is written from the ``__all__`` lists."""

import importlib
import re
import warnings
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import skfuncpriv

project = "skfuncpriv"
copyright = "The skfuncpriv developers"
version = release = skfuncpriv.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "auto_examples/*.ipynb"]
html_theme = "alabaster"
html_static_path = ["_static"]  # custom.css is the theme's name for what is added
html_math_renderer = "mathml"
html_theme_options = {
    "description": "Functions, released under differential privacy",
    "fixed_sidebar": True,
    "page_width": "1180px",
    "body_max_width": "none",
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
    # In the order in which a reader meets the jobs, not that of the alphabet.
    "subsection_order": [
        f"examples/{job}" for job in ("curves", "densities", "local", "models", "budget")
    ],
    "within_subsection_order": "ExampleTitleSortKey",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 10,
}
# The gallery of scikit-learn-like objects warns of nothing we could change.
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive")

API = (
    ("skfuncpriv", "Estimators, curves and displays"),
    ("skfuncpriv.iclp", "Sensitivities of moments and statistics"),
    ("skfuncpriv.density", "Densities"),
    ("skfuncpriv.model_selection", "Model selection"),
    ("skfuncpriv.gaussian_process", "Functions in an RKHS"),
    ("skfuncpriv.local", "The local model"),
    ("skfuncpriv.privacy", "Guarantees, budget and audit"),
    ("skfuncpriv.basis", "Orthonormal bases"),
    ("skfuncpriv.summaries", "Contributions and sums"),
    ("skfuncpriv.testing", "Checks of private estimators"),
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
    pages = set()
    for module_name, title in API:
        module = importlib.import_module(module_name)
        names = []
        for name in public_names(module):
            thing = getattr(module, name)
            if id(thing) not in listed and callable(thing):
                listed.add(id(thing))
                names.append(name)
        if not names:
            continue
        lines += [title, "-" * len(title), "", f".. currentmodule:: {module_name}", ""]
        lines += [".. autosummary::", "   :toctree: items/", ""]
        lines += [f"   {name}" for name in names] + [""]
        pages |= {f"{module_name}.{name}.rst" for name in names}
    text = "\n".join(lines)
    path.parent.mkdir(exist_ok=True)
    for page in path.parent.glob("items/*.rst"):
        if page.name not in pages:  # of an object that is gone, or listed elsewhere
            page.unlink()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


write_api_page(Path(__file__).parent / "generated" / "api.rst")


def skip_request_methods(app, what, name, thing, skip, options):  # noqa: ARG001
    """Leave out the methods that scikit-learn adds for the routing of metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def leave_labels_of_sklearn(app, env, node, contnode):  # noqa: ARG001
    """Show a label that an inherited method of scikit-learn refers to as plain text."""
    return contnode if node["reftarget"] in ("accuracy_score", "r2_score") else None


def visit_math(translator, node):
    """Write a formula as MathML, which browsers show without a script."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_displayed_math(translator, node):
    """The same for a formula on a line of its own."""
    formula = tex2mathml(node.astext()).replace("<math ", '<math display="block" ', 1)
    translator.body.append(f"<div>{formula}</div>")
    raise nodes.SkipNode


def setup(app):
    """Connect the functions above."""
    app.connect("autodoc-skip-member", skip_request_methods)
    app.connect("missing-reference", leave_labels_of_sklearn)
    app.add_html_math_renderer(
        "mathml", (visit_math, None), (visit_displayed_math, None)
    )
