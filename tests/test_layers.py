"""Imports point downward only, heavy packages are imported late, private ones once.

The rules are checked on the syntax of every file, so that an import inside a function
counts too; each rule is first shown to catch a planted violation.
"""

import ast
from pathlib import Path

import pytest

import skfuncpriv

ROOT = Path(skfuncpriv.__file__).parent

# From the bottom. A group may import from lower rows and from itself, nothing else.
ROWS = (
    ("exceptions", "_kept", "_progress", "_threads", "_validation"),
    ("_config",),
    ("noise",),
    ("privacy",),
    ("curves",),
    ("basis", "summaries", "denoise"),
    ("_sklearn",),
    ("_base", "_planned"),
    ("blocks",),
    (
        *("local", "gaussian_process"),
        *("plotting", "datasets", "testing"),
    ),
    ("iclp",),
    ("density",),
    ("model_selection",),
    ("_privacy_safe",),
    ("_cli",),
    ("__main__",),
    ("__init__",),
)
ROW_OF = {name: row for row, names in enumerate(ROWS) for name in names}
# Private modules that belong to one public module beside them.
GROUP_OF = dict.fromkeys(
    ("_tables", "_grids", "_observations", "_label_kinds", "_row_weights"), "curves"
)
LATE = {"dask", "distributed", "matplotlib", "pandas", "polars", "pyarrow"}


def imports(tree, package):
    """Pairs (absolute name, whether it runs when the module is imported)."""

    def visit(node, at_import):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, at_import) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                parts = package.split(".")
                base = parts[: len(parts) - child.level + 1] if child.level else []
                stem = ".".join([*base, child.module] if child.module else base)
                yield from (
                    (f"{stem}.{alias.name}", at_import) for alias in child.names
                )
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(
                child.test
            )
            yield from visit(child, at_import and not (is_function or is_for_types))

    yield from visit(tree, True)


def group(name):
    """The group that ``skfuncpriv.<part>...`` belongs to."""
    part = name.split(".")[1]
    return GROUP_OF.get(part, part)


def imported_group(name):
    """The same for an imported name, which may be one of the package itself."""
    part = name.split(".")[1] if "." in name else "__init__"
    is_module = part in ROW_OF or part in GROUP_OF or name.count(".") > 1
    return group(name) if is_module else "__init__"


def violations(source, module):
    """What the source of a module, given by its dotted path, does against the rules."""
    package = module.rpartition(".")[0]
    own = group(module)
    if own not in ROW_OF:
        return [f"{module} is in no row: give it one"]
    found = []
    for name, at_import in imports(ast.parse(source), package):
        top = name.split(".")[0]
        if top == "skfuncpriv" and name != "skfuncpriv.__version__":
            other = imported_group(name)
            if other not in ROW_OF:
                found.append(f"{module} imports {name}, which is in no row")
            elif other != own and ROW_OF[other] >= ROW_OF[own]:
                found.append(f"{module} imports {name}, which is not below it")
        if top in LATE and at_import:
            found.append(f"{module} imports {name} before it is needed")
        is_private = any(part.startswith("_") for part in name.split("."))
        if top == "sklearn" and is_private and own != "_sklearn":
            found.append(f"{module} imports the private {name}")
        if top == "sklearn" and own == "noise":
            found.append(f"{module} imports {name}: noise knows no scikit-learn")
    return found


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        yield path, ".".join(parts)


@pytest.mark.parametrize(
    ("path", "module"), list(modules()), ids=lambda x: str(x)[-40:]
)
def test_module_keeps_the_rules(path, module):
    assert violations(path.read_text(encoding="utf-8"), module) == []


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from skfuncpriv.iclp import ICLPMean", "skfuncpriv.noise._x"),
        ("import skfuncpriv.privacy", "skfuncpriv.noise._x"),
        ("from skfuncpriv import ICLPMean", "skfuncpriv.noise._x"),
        ("from skfuncpriv import privacy", "skfuncpriv.noise._x"),
        ("from .. import privacy", "skfuncpriv.noise._x"),
        ("from ..privacy._audit import audit", "skfuncpriv.noise._x"),
        ("def f():\n    from skfuncpriv import iclp", "skfuncpriv.basis._x"),
        ("from skfuncpriv.basis import CosineBasis", "skfuncpriv.summaries._x"),
        ("from skfuncpriv.density import PrivateKDE", "skfuncpriv.iclp._x"),
        ("from skfuncpriv.noise import NoiseLaw", "skfuncpriv.exceptions"),
        ("from .noise import NoiseLaw", "skfuncpriv._validation"),
        ("from skfuncpriv.surprise import f", "skfuncpriv.iclp._x"),
        ("x = 1", "skfuncpriv.surprise"),
        ("from ._privacy_safe import ParameterTable", "skfuncpriv.density"),
        ("import pandas as pd", "skfuncpriv.iclp._x"),
        ("try:\n    import polars\nexcept ImportError: pass", "skfuncpriv.curves"),
        ("class A:\n    from matplotlib import pyplot", "skfuncpriv.plotting._x"),
        ("from sklearn.utils._indexing import f", "skfuncpriv.iclp._x"),
        ("from sklearn.utils import _safe_indexing", "skfuncpriv.iclp._x"),
        ("def f():\n    import sklearn.utils._tags", "skfuncpriv._base"),
        ("from sklearn.base import clone", "skfuncpriv.noise._x"),
    ],
)
def test_planted_violation_is_found(source, module):
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from ._law import NoiseLaw", "skfuncpriv.noise._x"),
        ("from ..noise import NoiseLaw", "skfuncpriv.privacy._x"),
        ("from skfuncpriv.exceptions import PrivacyError", "skfuncpriv.noise._x"),
        ("from skfuncpriv import __version__", "skfuncpriv.noise._x"),
        ("from skfuncpriv import iclp", "skfuncpriv.__main__"),
        ("def f():\n    import pandas", "skfuncpriv.datasets._x"),
        ("if TYPE_CHECKING:\n    import pandas", "skfuncpriv.datasets._x"),
        ("from sklearn.utils._tags import Tags", "skfuncpriv._sklearn"),
        ("from sklearn.base import BaseEstimator", "skfuncpriv.iclp._x"),
        ("from skfuncpriv._tables import column", "skfuncpriv._observations"),
    ],
)
def test_allowed_import_is_allowed(source, module):
    assert violations(source, module) == []
