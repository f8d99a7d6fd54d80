"""Configuration of Sphinx; the API page is written from the ``__all__`` lists."""

import importlib
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

import skfuncpriv

HERE = Path(__file__).parent
LOGGER = logging.getLogger(__name__)
sys.path.insert(0, str(HERE))
from pictures import draw_landing  # noqa: E402

project = "skfuncpriv"
copyright = "The skfuncpriv developers"
version = release = skfuncpriv.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "examples",
    "auto_examples/*.ipynb",
    "generated/mini/*",
    "**sg_execution_times.rst",  # of older builds
]
templates_path = ["_templates"]
nitpicky = True  # a reference that leads nowhere is an error
html_theme = "pydata_sphinx_theme"
html_title = "skfuncpriv"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "skfuncpriv"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages below them need no column that would list these.
html_sidebars = {"index": [], "faq": [], "whats_new/*": []}
# Copied are the commands, without prompts and without what they print.
copybutton_exclude = ".linenos, .gp, .go"
autosummary_generate = True
# An attribute in single backticks, as in `spectrum`, may belong to several classes.
suppress_warnings = ["ref.python"]
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Inherited from our own bases; scikit-learn's and Python's document themselves.
BASES = "BaseEstimator, Exception, tuple, object"
autodoc_default_options = {"members": True, "inherited-members": BASES}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    # In the order in which a reader meets the jobs, not that of the alphabet.
    "subsection_order": [
        f"examples/{job}"
        for job in ("curves", "densities", "local", "models", "budget", "large")
    ]
    + ["*"],
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "remove_config_comments": True,
    "thumbnail_size": (480, 336),
    "write_computation_times": False,  # their table loads scripts from other hosts
    "doc_module": ("skfuncpriv",),
    "reference_url": {"skfuncpriv": None},
    "backreferences_dir": "generated/mini",
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
    ("skfuncpriv.blocks", "Rows in blocks, and dask"),
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


PAGES = {}  # the page of each public name, without and with its module


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
        lines += [title, "-" * len(title), "", f".. py:module:: {module_name}", ""]
        lines += [f".. currentmodule:: {module_name}", ""]
        lines += [".. autosummary::", "   :toctree: items/", ""]
        lines += [f"   {name}" for name in names] + [""]
        pages |= {f"{module_name}.{name}.rst" for name in names}
        PAGES.update({name: f"{module_name}.{name}" for name in names})
    text = "\n".join(lines)
    path.parent.mkdir(exist_ok=True)
    for page in path.parent.glob("items/*.rst"):
        if page.name not in pages:  # of an object that is gone, or listed elsewhere
            page.unlink()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


write_api_page(HERE / "generated" / "api.rst")
draw_landing(HERE / "generated")


def skip_plumbing(app, what, name, thing, skip, options):  # noqa: ARG001
    """Leave out the methods that every estimator of scikit-learn has."""
    plumbing = r"set_\w+_request|get_metadata_routing|set_output"
    return True if re.fullmatch(plumbing, name) else None


# Where the pages of others are; no list of theirs is fetched while this is built.
ELSEWHERE = {
    "sklearn": "https://scikit-learn.org/stable/modules/generated/{}.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{}.html",
}


def find_elsewhere(app, env, node, contnode):
    """Find what a docstring names by another module, or what others document."""
    target, domain = node["reftarget"], node.get("refdomain")
    if domain == "std":  # labels in docstrings that are inherited from scikit-learn
        return contnode if target in ("accuracy_score", "r2_score") else None
    if domain != "py":
        return None
    parts = target.split(".")
    if parts[0] in ELSEWHERE:
        address = ELSEWHERE[parts[0]].format(target)
        return nodes.reference("", "", contnode, refuri=address)
    if node["reftype"] == "obj" and len(parts) == 1 and parts[0].islower():
        return contnode  # an argument or attribute in single backticks
    parts = [part for part in parts if part in PAGES]
    if not parts:
        return None
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, "obj", PAGES[parts[0]], node, contnode
    )


def visit_math(translator, node):
    """Write a formula as MathML, which browsers show without a script."""
    formula = mathml(node)
    if len(node.astext()) > 40:  # wider than a phone, and browsers do not break it
        formula = f'<span class="long-formula">{formula}</span>'
    translator.body.append(formula)
    raise nodes.SkipNode


def visit_displayed_math(translator, node):
    """The same for a formula on a line of its own."""
    formula = mathml(node).replace("<math ", '<math display="block" ', 1)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def mathml(node):
    """Translate a formula; warn where it is if that fails."""
    formula = re.sub(r"\\([dt]?frac)(\d)(\d)", r"\\\1{\2}{\3}", node.astext())
    try:
        return tex2mathml(formula)
    except (MathError, AttributeError, IndexError) as error:
        LOGGER.warning("%s: %s", error, node.astext(), location=node)
        return node.astext()


def setup(app):
    """Connect the functions above."""
    app.connect("autodoc-skip-member", skip_plumbing)
    app.connect("missing-reference", find_elsewhere)
    app.add_html_math_renderer(
        "mathml", (visit_math, None), (visit_displayed_math, None)
    )
