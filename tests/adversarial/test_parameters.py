"""Public parameters drawn by hypothesis: refused for free, or a promise that is kept.

After the charge nothing may fail, nothing released may be NaN, noise must be there, and
the worst neighbours that are known must lose no more than is promised.
"""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skfuncpriv import (
    BernsteinMean,
    BudgetLedger,
    FRLMean,
    GaussianProcessReleaser,
    ICLPClassifier,
    ICLPCovariance,
    ICLPMean,
    ICLPRegressor,
    PrivateFPCA,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateSparseMean,
)
from tests.adversarial.cases import check_path, finite_everywhere, path_of

WIDTH = 5


def sizes(low, high):
    """Numbers of any size, half of them round."""
    digits = st.one_of(st.sampled_from([1.0, 2.0, 5.0]), st.floats(1.0, 9.99))
    return st.builds(lambda d, k: d * 10.0**k, digits, st.integers(low, high - 1))


EPSILON = sizes(-6, 6)
DELTA = st.one_of(st.just(0.0), sizes(-15, -1), st.just(0.4))
BOUNDS = st.builds(
    lambda low, width: (low, low + width),
    st.one_of(st.just(0.0), st.floats(-1e6, 1e6)),
    sizes(-6, 6),
)
PSI = st.one_of(st.just("pss"), sizes(-8, 3))
N_PEOPLE = st.integers(1, 12)
MEANS = {
    "mechanism": st.sampled_from(
        ["auto", "laplace", "spherical", "block-spherical", "gaussian"]
    ),
    "penalty": st.sampled_from(["qr", "qr", "ar"]),
    "denoise": st.booleans(),
    "n_basis": st.one_of(st.just("pss"), st.integers(0, 40)),
    "eta": st.one_of(st.just("pss"), st.floats(0.4, 3.0)),
    "psi": PSI,
    "norm_bound": st.one_of(st.none(), sizes(-9, 9)),
    "rounds": st.sampled_from(["auto", 1, 2]),
}
SPARSE = {
    "n_basis": MEANS["n_basis"],
    "mechanism": st.sampled_from(["auto", "spherical", "gaussian"]),
    "max_gap": st.one_of(st.none(), sizes(-3, 2)),
}
COVARIANCES = {key: MEANS[key] for key in ("denoise", "n_basis", "norm_bound")} | {
    "mechanism": st.sampled_from(["auto", "spherical", "gaussian"]),
    "radius": st.one_of(st.none(), sizes(-6, 6)),
}
DENSITIES = {
    "bandwidth": st.one_of(st.sampled_from(["pss", "private-iqr"]), sizes(-6, 6)),
    "kernel": st.sampled_from(["gaussian", "exponential", "epanechnikov", "tophat"]),
    "boundary": st.sampled_from(["reflect", "periodic", "renormalize"]),
    "mechanism": st.sampled_from(
        ["auto", "binned", "iclp", "gaussian_process", "bernstein"]
    ),
    "noise": st.sampled_from(["auto", "laplace", "gaussian"]),
    "denoise": st.booleans(),
}
MACHINES = {
    "n_components": st.one_of(st.just("auto"), st.integers(0, 40)),
    "psi": PSI,
    "loss": st.sampled_from(["logistic", "hinge"]),
}
REGRESSIONS = {
    "y_bounds": BOUNDS,
    "X_bounds": BOUNDS,
    "psi": PSI,
    "kernel": st.sampled_from(["linear", "rbf"]),
    "method": st.sampled_from(["auto", "statistics", "minimiser"]),
}
PROCESSES = {"points": st.none(), "n_nodes": st.integers(0, 30)}


def try_to_break(model, parameters, n_people, *, width=WIDTH, labels=False):
    """Fit two neighbours; the last person holds one extreme, then the other."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "budget.db")
        ledger = BudgetLedger(path, epsilon=1e9, delta=0.9999)
        model = model.set_params(**parameters, ledger=path, random_state=0)
        X = np.random.default_rng(0).normal(size=(n_people, width))
        y = np.where(np.arange(n_people) % 2, 1.0, -1.0)
        paths, refusals = [], []
        for extreme in (1e300, -1e300):
            X[-1], y[-1] = extreme, np.sign(extreme)
            target = y.astype(int) if labels else y * 1e9
            try:
                paths.append(path_of(model, X, target, paths[0] if paths else ()))
            except (ValueError, TypeError) as error:
                refusals.append(str(error))
                continue
            finite_everywhere(model)
        assert len(ledger.history()) == len(paths)
        if refusals:  # before the charge, whatever the data
            assert not paths
            assert len(set(refusals)) == 1
            return False
        assert ledger.history()[0].guarantee == model.guarantee_
        check_path(model.guarantee_, *paths)
    assert model.guarantee_.epsilon <= parameters["epsilon"]
    assert model.guarantee_.delta <= parameters.get("delta", 0.0)
    return True


def common(options, delta=True):
    options = {"epsilon": EPSILON, "bounds": BOUNDS} | options
    return st.fixed_dictionaries(options | ({"delta": DELTA} if delta else {}))


@settings(max_examples=10)
@given(common(MEANS), N_PEOPLE)
def test_means(parameters, n_people):
    """Combine options of a mean curve until one combination breaks."""
    try_to_break(ICLPMean(bounds=(0, 1)), parameters, n_people)


@settings(max_examples=4)
@given(common(SPARSE), N_PEOPLE)
def test_sparse_means(parameters, n_people):
    """Combine options of a mean of curves with gaps until one combination breaks."""
    try_to_break(PrivateSparseMean(bounds=(0, 1)), parameters, n_people)


@settings(max_examples=4)
@given(common(COVARIANCES), N_PEOPLE, st.booleans())
def test_covariances(parameters, n_people, components):
    """Combine options of a covariance until one combination breaks."""
    kind = PrivateFPCA if components else ICLPCovariance
    try_to_break(kind(bounds=(0, 1)), parameters, n_people)


@settings(max_examples=5)
@given(
    common({"n_basis": st.integers(0, 40), "eta": MEANS["eta"]}, delta=False),
    common({"degree": st.integers(0, 40)}, delta=False),
    N_PEOPLE,
)
def test_published_means(parameters, others, n_people):
    """Combine options of the published baselines until one combination breaks."""
    known = FRLMean(bounds=(0, 1)).get_params()
    kept = {key: value for key, value in parameters.items() if key in known}
    try_to_break(FRLMean(bounds=(0, 1)), kept, n_people)
    known = BernsteinMean(bounds=(0, 1)).get_params()
    kept = {key: value for key, value in others.items() if key in known}
    try_to_break(BernsteinMean(bounds=(0, 1)), kept, n_people)


@settings(max_examples=10)
@given(common(DENSITIES), N_PEOPLE)
def test_densities(parameters, n_people):
    """Combine options of a density until one combination breaks."""
    try_to_break(PrivateKDE(bounds=(0, 1)), parameters, n_people, width=1)


@settings(max_examples=5)
@given(common(MACHINES), N_PEOPLE)
def test_machines(parameters, n_people):
    """Combine options of a classifier until one combination breaks."""
    model = PrivateKernelClassifier(bounds=(0, 1), classes=[-1, 1])
    try_to_break(model, parameters, n_people, width=2, labels=True)


@settings(max_examples=10)
@given(common(REGRESSIONS), N_PEOPLE, st.booleans())
def test_regressions(parameters, n_people, labels):
    """Combine options of a regression of curves until one combination breaks."""
    parameters = dict(parameters)
    del parameters["bounds"]
    if labels:
        del parameters["y_bounds"], parameters["method"]
        model = ICLPClassifier(X_bounds=(0, 1), classes=[-1, 1])
    else:
        model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(0, 1))
    try_to_break(model, parameters, n_people, labels=labels)


@settings(max_examples=5)
@given(common(PROCESSES), N_PEOPLE)
def test_processes(parameters, n_people):
    """Combine options of a Gaussian process release until one combination breaks."""
    from sklearn.neighbors import KernelDensity

    model = GaussianProcessReleaser(
        bounds=(0, 1), estimator=KernelDensity(bandwidth=0.3)
    )
    try_to_break(model, parameters, n_people, width=1)


def test_most_of_what_is_drawn_is_released():
    """The fuzz itself: plain parameters reach the release and its loss is compared."""
    plain = {"epsilon": 1.0, "bounds": (0.0, 1.0)}
    assert try_to_break(ICLPMean(bounds=(0, 1)), plain, 5)
    assert try_to_break(PrivateKDE(bounds=(0, 1)), plain, 5, width=1)
    assert not try_to_break(ICLPMean(bounds=(0, 1)), plain | {"n_basis": 0}, 5)
