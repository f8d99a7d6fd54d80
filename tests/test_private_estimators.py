"""The search for private numbers, by which every estimator is checked, finds them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skfuncpriv import ICLPMean
from skfuncpriv.testing import silenced, table_case
from skfuncpriv.testing._secrets import Secrets, reachable
from tests.test_common import CENTRAL


def name_of(estimator):
    options = [estimator.get_params().get(k) for k in ("mechanism", "penalty", "loss")]
    if hasattr(estimator, "estimator"):
        options.append(type(estimator.estimator).__name__)
    return "-".join([type(estimator).__name__, *filter(None, options)])


class Slotted:
    __slots__ = ("kept",)

    def __init__(self, kept):
        self.kept = kept


@pytest.mark.filterwarnings("ignore::skfuncpriv.NoiseDominatesWarning")
@pytest.mark.parametrize("estimator", CENTRAL, ids=name_of)
def test_the_search_for_secrets_finds_them(estimator):
    case = table_case(estimator, n_columns=12)
    model = case.new(estimator, random_state=3)
    X = case.X
    secrets = Secrets(model, case, *case.data)
    assert len(secrets.numbers) > X.size
    assert secrets.integers
    assert secrets.words
    name = sorted(case.released_names(model))[0]
    with silenced():
        statistic = getattr(clone(model).fit(*case.data), name)
    leaks = {
        "rows": X[5:6, 2:5].copy(),
        "view": X[:0],
        "closure": lambda: X,
        "slot": Slotted(X[5, 2]),
        "statistic": statistic,
        "half": [float(statistic.ravel()[0])],
    }
    for leak in leaks.values():
        model.kept_ = leak
        with pytest.raises(AssertionError, match="holds a private number"):
            secrets.check_numbers(reachable(model)[0])
    for leak in (X[5].copy(), float(statistic.ravel()[0]), secrets.words[0][:1].copy()):
        model.kept_ = leak
        with pytest.raises(AssertionError, match="the pickled estimator holds"):
            secrets.check_bytes(pickle.dumps(model))
    large = [k for k in secrets.integers if abs(k) > 2**32]
    if large:
        model.kept_ = large[0]
        with pytest.raises(AssertionError, match="the pickled estimator holds"):
            secrets.check_bytes(pickle.dumps(model))
    model.kept_ = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="source of random numbers"):
        secrets.check_objects(reachable(model)[1])
    with pytest.raises(AssertionError, match="a printed text shows"):
        secrets.check_text(f"a mean of {statistic.ravel()[0]}")
    with pytest.raises(AssertionError, match="a printed text shows"):
        secrets.check_text(f"rows-{X[0, 0]!r}m")


def test_notebooks_show_what_is_promised_above_the_diagram():
    model = ICLPMean(bounds=(0, 1), random_state=0)
    assert "pure DP" not in model._repr_html_()
    shown = model.fit(np.full((30, 4), 0.5))._repr_html_()
    assert str(model.guarantee_) in shown.partition("<style>")[0]
    assert "SEEDED" in model._repr_mimebundle_()["text/html"]
