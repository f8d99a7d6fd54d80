"""What becomes of a check that passes, fails, is left out or is expected to fail."""

import doctest
import inspect
import re
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from skfuncpriv.testing import (
    check_private_estimator,
    parametrize_with_private_checks,
)
from skfuncpriv.testing._run import CHECKS
from tests.testing import private_mean
from tests.testing.private_mean import PrivateNumberMean
from tests.testing.test_broken import BOUNDS, case_of

STATES = "check_bad_random_states_are_refused"
DELTAS = "check_bad_deltas_are_refused"
WARNED = "check_neighbours_are_warned_alike"
PAGE = Path(__file__).parents[2].joinpath("doc", "mechanisms.rst").read_text()


class Failing(PrivateNumberMean):
    """It stops, with an error of its own."""

    def fit(self, X, y=None):
        raise KeyError("broken")


def outcomes(model, *names, **options):
    found = check_private_estimator(model, case_of(model), only=names, **options)
    return {outcome.name: str(outcome) for outcome in found}


def test_each_outcome_has_its_status():
    model = PrivateNumberMean(bounds=BOUNDS)
    assert outcomes(model, STATES) == {STATES: f"{STATES}: passed"}
    with pytest.warns(SkipTestWarning, match=f"{DELTAS} is skipped"):
        (text,) = outcomes(model, DELTAS).values()
    assert text.startswith(f"{DELTAS}: skipped: ")
    failing, reason = Failing(bounds=BOUNDS), {STATES: "the reason"}
    expected = outcomes(failing, STATES, expected_failed_checks=reason)
    assert expected == {STATES: f"{STATES}: xfail: the reason"}
    (text,) = outcomes(failing, STATES, on_fail=None).values()
    assert text.startswith(f"{STATES}: failed: ")


def test_all_failures_are_raised_together():
    with pytest.raises(AssertionError, match=f"(?s){STATES}.*{WARNED}.*KeyError"):
        outcomes(Failing(bounds=BOUNDS), STATES, WARNED)
    reason = {STATES: "the reason"}
    with pytest.raises(AssertionError, match="passes, though it is expected to fail"):
        outcomes(
            PrivateNumberMean(bounds=BOUNDS), STATES, expected_failed_checks=reason
        )


def test_unknown_names_are_refused():
    model = PrivateNumberMean(bounds=BOUNDS)
    with pytest.raises(ValueError, match="'check_nothing' is no check"):
        outcomes(model, "check_nothing")
    with pytest.raises(ValueError, match="'check_nothing' is no check"):
        outcomes(model, STATES, expected_failed_checks={"check_nothing": "why"})
    with pytest.raises(ValueError, match="on_fail must be 'raise' or None, got 'rise'"):
        outcomes(model, STATES, on_fail="rise")


def test_a_test_is_decorated_with_all_pairs():
    model = PrivateNumberMean(bounds=BOUNDS)
    mark = parametrize_with_private_checks(
        [model], case=case_of, expected_failed_checks=lambda _: {STATES: "the reason"}
    )
    names, pairs = mark.args
    assert names == ("estimator", "check")
    assert [pair.id for pair in pairs] == [f"PrivateNumberMean0-{k}" for k in CHECKS]
    (excused,) = [pair for pair in pairs if pair.marks]
    assert excused.id.endswith(STATES)
    assert excused.marks[0].kwargs["strict"]
    estimator, check = excused.values
    check(estimator)


def test_the_page_on_mechanisms_lists_all_checks():
    table = re.findall(r"   \* - ``(.+)``\n     - (.+\n(?:       .+\n)*)", PAGE)
    listed = {name: text.split() for name, text in table}
    first_lines = {
        name: inspect.getdoc(check).splitlines()[0].split()
        for name, check in CHECKS.items()
    }
    assert list(listed.items()) == list(first_lines.items())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_examples_of_the_page_on_mechanisms_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "private_mean", private_mean)
    page = doctest.DocTestParser().get_doctest(PAGE, {}, "mechanisms", None, 0)
    assert len(page.examples) > 10
    found = []
    doctest.DocTestRunner().run(page, out=found.append)
    assert not found, "".join(found)
    (snippet,) = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", PAGE)
    space = {}
    exec(textwrap.dedent(snippet), space)
    (mark,) = space["test_privacy"].pytestmark
    assert len(mark.args[1]) == len(CHECKS)


def test_scikit_learn_misses_what_the_page_on_mechanisms_says():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(PrivateNumberMean(bounds=BOUNDS), on_fail=None)
    failed = {one["check_name"] for one in outcomes if one["status"] == "failed"}
    text = PAGE.partition("Scikit-learn's ``check_estimator`` is")[2]
    paragraph = text.partition("\n\n")[0]
    assert failed == set(re.findall("``(check_.+?)``", paragraph))
