"""From the parameters of an estimator, and the form of X, to the public design.

For `ICLPRegressor` and `ICLPClassifier` alike: ``design, rows = public_design(self,
X)`` reads X; ``design.transform(rows, codes)`` are the bounded features,
``design.whitened(rows, codes)`` those in which the penalty is a plain squared norm,
``design.first(size)`` fewer of them, ``design.read(X)`` the rows of a later X. Read are
`X_bounds`, `X_domain`, `X_grid`, `X_basis`, `eta`, `kernel` and `missing`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from .._grids import public_grid
from .._observations import filled, is_fdata
from .._validation import check_count, check_interval, check_positive
from ..basis import Basis, CosineBasis
from ..curves import Curves, as_curves
from ..gaussian_process._features import (
    MAX_FEATURES,
    default_kernel,
    public_features,
)
from ..gaussian_process._kernels import Kernel
from ..gaussian_process._rows import public_center, read_box, read_rows
from ..summaries import ValueBounds
from ._design_base import Design
from ._design_curves import (
    CurveDesign,
    CurvePredictor,
    CurveRows,
    cannot_miss,
    parts_of,
)
from ._design_numbers import KernelDesign, NumericDesign

ETA = 1.5
_MAX_FUNCTIONS = 64
_MAX_FEATURES = 128
_DEFAULT_POINTS = 101
_MOST_AXES = 3
_MANY_COLUMNS = 15  # of numbers that nobody said to be numbers
_SMALLEST = 1e-100


def public_design(estimator: Any, X: Any, *, smooth: bool = True) -> tuple[Design, Any]:
    """The design with all features that may be taken, and the rows of X.

    Parameters
    ----------
    estimator : estimator
        Its public parameters are read.
    X : array-like, frame, Curves, dict or list
        *Private.* Only its form decides.
    smooth : bool, default=True
        Whether numbers on up to three axes get a kernel where `kernel` is None.

    Returns
    -------
    design : Design
        The public map.
    rows : object
        The rows of X, for ``design.transform``; *private*.
    """
    if is_curves(estimator.X_domain, X):
        return _curve_design(estimator, X)
    if isinstance(X, dict) and not issparse(X):  # as one kind of sparse table is
        raise ValueError(
            "X is a dict, but X_domain is None: state X_domain={...} with the interval "
            "of each curve"
        )
    if estimator.X_grid is not None:
        raise ValueError("X_grid is of curves: state X_domain, or leave it out")
    rows = read_rows(X, public_center(estimator, estimator.X_bounds, _read_box))
    return _number_design(estimator, rows.shape[1], smooth), rows


def warn_of_numbers(estimator: Any, design: Design, stacklevel: int = 3) -> None:
    """Warn of many columns of numbers that may well be curves, from public facts."""
    count = design.n_columns
    if estimator.X_domain is not None or estimator.kernel is not None or design.points:
        return
    if count is not None and count > _MANY_COLUMNS:
        warnings.warn(
            f"X has {count} columns and X_domain is None: they are read as {count} "
            "numbers, not as curves; pass X_domain=(A, B) for curves, or "
            "kernel='linear' to say that they are numbers",
            UserWarning,
            stacklevel=stacklevel,
        )


def zero_rows(estimator: Any, n_points: int | None, n_outputs: int = 1) -> Any:
    """One row of zeros in the form that the public parameters state.

    Numbers have as many columns as `X_bounds` has arrays for, else `n_points`, else
    one; curves where `X_grid` is None have `n_points` points.
    """
    if n_points is not None:
        check_count(n_points, "n_points")
    domain = estimator.X_domain
    if domain is None:
        try:
            n_bounds = max(map(np.size, estimator.X_bounds))
        except (TypeError, ValueError):  # they are refused where they are read
            n_bounds = 1
        return np.zeros((1, n_bounds if n_bounds > 1 else n_points or 1))

    def curves(grid: Any) -> np.ndarray:
        known = grid is not None and not isinstance(grid, str)
        count = len(grid) if known else n_points or _DEFAULT_POINTS
        return np.zeros((1, count, n_outputs) if n_outputs > 1 else (1, count))

    named = [(name, curves(f["X_grid"])) for name, f in predictor_facts(estimator)]
    if isinstance(domain, dict):
        return dict(named)
    tables = [table for _, table in named]
    return tables[0] if named[0][0] is None else tables


def features_of(estimator: Any, X: Any) -> np.ndarray:
    """Features of rows for a fitted estimator, in the form that it was fitted to."""
    if hasattr(estimator, "n_features_in_") and len(getattr(X, "shape", ())) > 1:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    design = estimator.features_
    rows = design.read(X)
    features, seen = design.transform(rows), design.seen(rows)
    if seen is not None:  # without data a curve is the public centre
        features[~seen, 0] = design.constant
    return features


def is_curves(domain: Any, data: Any) -> bool:
    """Whether data hold curves: their type or a domain says so, never their values."""
    return domain is not None or isinstance(data, Curves) or is_fdata(data)


def _number_design(estimator: Any, n_axes: int, smooth: bool) -> Design:
    low, high = _read_box(estimator.X_bounds, n_axes)
    if not _is_pss(estimator.eta):
        raise ValueError("eta is of curves: state X_domain, or leave it out")
    kernel = estimator.kernel
    if kernel is None and not (smooth and n_axes <= _MOST_AXES):
        kernel = "linear"
    if isinstance(kernel, str) and kernel == "linear":
        if not _is_pss(estimator.X_basis):
            raise ValueError("X_basis is of curves and kernels: leave it out")
        return NumericDesign(low, high)
    if kernel is None:
        kernel = default_kernel(low, high)
    elif not isinstance(kernel, Kernel):
        raise TypeError(
            "kernel must be a Kernel such as GaussianKernel(0.5), 'linear', or None, "
            f"got {kernel!r}"
        )
    count = _MAX_FEATURES
    if not _is_pss(estimator.X_basis):
        count = check_count(estimator.X_basis, "X_basis")
        if count > MAX_FEATURES:
            raise ValueError(
                f"X_basis must be 'pss' or at most {MAX_FEATURES}, got {count}"
            )
    return KernelDesign(public_features(kernel, low, high, count))


def _read_box(bounds: Any, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    try:
        low, high = read_box(bounds, n_axes)
    except ValueError as error:
        text = f"X_{error}"
        if isinstance(bounds, tuple | list) and any(map(np.ndim, bounds)):
            text += ": two arrays are (all lows, all highs), not a pair of each column"
    else:
        if (high / 2 - low / 2 >= _SMALLEST).all():
            return low, high
        text = f"X_bounds must be at least {2 * _SMALLEST} apart: use other units of X"
    raise ValueError(text)


def _curve_design(estimator: Any, X: Any) -> tuple[CurveDesign, CurveRows]:
    if estimator.kernel is not None:
        raise ValueError(
            "kernel is of rows of numbers: for curves pass X_basis=KernelBasis(...)"
        )
    eta = read_eta(estimator.eta)
    each = predictor_facts(estimator)
    grids = [(name, _length(one["X_grid"])) for name, one in each]
    predictors, curves, complete = [], [], True
    for (name, one), part in zip(each, parts_of(X, grids), strict=True):
        predictor, read = _predictor(one, part, estimator, name)
        predictors.append(predictor)
        curves.append(read)
        complete = complete and cannot_miss(part, estimator.missing)
    return CurveDesign(tuple(predictors), eta), CurveRows(tuple(curves), complete)


def predictor_facts(estimator: Any) -> list[tuple[Any, dict]]:
    """The name of each curve predictor (None for a single one), and its parameters."""
    facts = ("X_domain", "X_bounds", "X_grid", "X_basis")
    stated = {fact: getattr(estimator, fact) for fact in facts}
    names = _names(stated["X_domain"])
    if names is None:
        return [(None, stated)]
    return [
        (name, {fact: _of(stated[fact], name, fact) for fact in facts})
        for name in names
    ]


def read_eta(eta: Any) -> float:
    """The exponent of the quadratic penalty."""
    if _is_pss(eta):
        return ETA
    if check_positive(eta, "eta") <= 0.5:
        raise ValueError(f"eta must be 'pss' or > 1/2, got {eta!r}")
    return float(eta)


def public_curves(
    X: Any,
    *,
    domain: Any,
    grid: Any,
    bounds: Any,
    basis: Any,
    missing: str,
    name: str,
    strict: bool,
) -> tuple[Curves, Basis, ValueBounds, np.ndarray]:
    """Curves with their basis, bounds and points, for the parameters ``name_...``."""
    if domain is None:
        if is_fdata(X):
            X = Curves.from_fdata(X, missing=missing)
        if isinstance(basis, Basis):
            domain = basis.domain
        elif not isinstance(X, Curves):
            raise ValueError(
                f"{name}_domain must state an interval for each curve, got None: a "
                "number beside curves is a constant curve, as in "
                "np.repeat(numbers[:, None], 2, axis=1) on (0, 1)"
            )
        elif X.domain is not None:
            domain = X.domain
        elif X.is_regular:
            domain = (0.0, 1.0)
        else:
            raise ValueError(
                f"{name}_domain must be stated for irregular curves: "
                f"{name}_domain=(A, B)"
            )
    domain = check_interval(domain, f"{name}_domain")
    if not _SMALLEST <= domain[1] - domain[0] <= 1 / _SMALLEST:
        raise ValueError(f"{name}_domain is too narrow or too wide: use other units")
    curves = as_curves(X, grid=grid, domain=domain, missing=missing, strict=strict)
    most = _MAX_FUNCTIONS
    if curves.grid is not None:
        most = min(most, len(curves.grid))
    basis = _basis(basis, domain, most, f"{name}_basis")
    try:
        values = ValueBounds.from_parameters(
            bounds, domain=domain, n_outputs=curves.n_outputs, grid=curves.grid
        )
    except ValueError as error:
        text = f"{name}_{error}"
    else:
        points = curves.grid
        if points is None and grid is not None and not isinstance(grid, str):
            points = public_grid(grid, domain, len(grid), None)
        if points is None:
            points = np.linspace(*domain, _DEFAULT_POINTS)
        if min(values.reach.max(), values.norm_bound) >= _SMALLEST:
            return filled(curves, values.center), basis, values, points.copy()
        text = f"{name}_bounds must be further apart: use larger units"
    raise ValueError(text)


def _predictor(
    facts: dict, X: Any, estimator: Any, name: Any
) -> tuple[CurvePredictor, Curves]:
    curves, basis, values, points = public_curves(
        X,
        domain=facts["X_domain"],
        grid=facts["X_grid"],
        bounds=facts["X_bounds"],
        basis=facts["X_basis"],
        missing=estimator.missing,
        name="X",
        strict=estimator._is_strict(),
    )
    grid = None if curves.grid is None else points
    predictor = CurvePredictor(
        basis, values, grid, points, estimator.missing, name, curves.is_vector
    )
    return predictor, curves


def _basis(basis: Any, domain: tuple[float, float], most: int, name: str) -> Basis:
    if isinstance(basis, Basis):
        if basis.domain != domain:
            raise ValueError(
                f"{name} has the domain {basis.domain}, not {domain}: they must agree"
            )
        return basis.orthonormalize()
    count = most if _is_pss(basis) else check_count(basis, name)
    return CosineBasis(count, domain)


def _is_pss(value: Any) -> bool:
    return isinstance(value, str) and value == "pss"


def _names(domain: Any) -> list | None:
    """Names of several predictors, or None for a single one."""
    if isinstance(domain, dict) and domain:
        return list(domain)
    is_list = isinstance(domain, list | tuple) and len(domain) > 0
    if is_list and all(isinstance(one, list | tuple) for one in domain):
        return list(range(len(domain)))
    return None


def _of(stated: Any, name: Any, fact: str) -> Any:
    """What a parameter says about one of several predictors."""
    if isinstance(stated, dict):
        if name not in stated:
            raise ValueError(f"{fact} must have an entry for each key of X_domain")
        return stated[name]
    if fact == "X_domain" or (fact == "X_grid" and isinstance(stated, list | tuple)):
        if name >= len(stated):
            raise ValueError(f"{fact} must have one entry for each predictor")
        return stated[name]
    is_list = isinstance(stated, list) and isinstance(name, int)
    if is_list and len(stated) > name and fact in ("X_bounds", "X_basis"):
        return stated[name]
    return stated  # one statement for all of them


def _length(grid: Any) -> Any:
    """A stated grid, for its number of points; None if it is not stated as numbers."""
    return None if grid is None or isinstance(grid, str) else grid
