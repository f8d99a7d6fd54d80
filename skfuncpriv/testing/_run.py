"""Running the checks over an estimator, as scikit-learn's `check_estimator` does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import SkipTest

from sklearn.exceptions import SkipTestWarning

from ..exceptions import NoiseDominatesWarning
from . import (
    _data_checks,
    _draw_checks,
    _ledger_checks,
    _loss_checks,
    _neighbour_checks,
    _parameter_checks,
    _state_checks,
    _unit_checks,
)
from ._case import PrivateCase, table_case

Check = Callable[[Any, PrivateCase], None]

_THEMES = (
    _state_checks,
    _unit_checks,
    _neighbour_checks,
    _data_checks,
    _ledger_checks,
    _loss_checks,
    _draw_checks,
    _parameter_checks,
)
CHECKS: dict[str, Check] = {
    name: thing
    for theme in _THEMES
    for name, thing in vars(theme).items()
    if name.startswith("check_") and getattr(thing, "__module__", "") == theme.__name__
}


@dataclass(frozen=True)
class CheckOutcome:
    """What became of one check.

    Parameters
    ----------
    name : str
        The name of the check.
    status : {"passed", "failed", "skipped", "xfail"}
        "xfail" is a failure that was expected.
    text : str
        What was found, or why the check was skipped or expected to fail.

    Examples
    --------
    >>> from skfuncpriv.testing import CheckOutcome
    >>> print(CheckOutcome("check_data_are_let_go", "failed", "X is still alive"))
    check_data_are_let_go: failed: X is still alive
    """

    name: str
    status: str
    text: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.status, self.text)))


def check_private_estimator(
    estimator: Any,
    case: PrivateCase | None = None,
    *,
    only: Iterable[str] | None = None,
    expected_failed_checks: Mapping[str, str] | None = None,
    on_fail: str | None = "raise",
) -> list[CheckOutcome]:
    """Check that an estimator keeps what a private estimator promises.

    It holds nothing but what was released, cannot tell neighbours apart otherwise,
    charges its ledger before it draws, takes secure bits, and loses on neighbouring
    data at most what its guarantee says.

    Parameters
    ----------
    estimator : estimator object
        An instance, with parameters `ledger`, `random_state` and a budget. It is
        cloned, never fitted.
    case : PrivateCase, default=None
        Data and public facts; None is `table_case(estimator)`.
    only : iterable of str, default=None
        Names of the checks to run; None runs all.
    expected_failed_checks : mapping of str to str, default=None
        Checks that must fail, with the reason.
    on_fail : {"raise", None}, default="raise"
        Whether failures raise an error, after all checks have run.

    Returns
    -------
    list of CheckOutcome
        One for each check. Each one that is skipped warns, too.

    Raises
    ------
    AssertionError
        If a check fails, or one that is expected to fail does not; the text names all
        of them and says what was found.
    TypeError
        If the estimator is a class.
    ValueError
        If a name is no check's, or `on_fail` is something else.

    Notes
    -----
    Scikit-learn's `check_estimator` is not included: an estimator should pass both.
    Checks act on points that the whole process shares (the draw of noise, the standard
    streams): do not run them in threads.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import check_private_estimator
    >>> model = ICLPMean(bounds=(-500, 500), domain=(-500, 500))
    >>> print(*check_private_estimator(model, only=["check_data_are_let_go"]))
    check_data_are_let_go: passed
    """
    _ensure_instance(estimator)
    case = table_case(estimator) if case is None else case
    expected = dict(expected_failed_checks or {})
    names = list(CHECKS) if only is None else list(only)
    for name in {*names, *expected} - set(CHECKS):
        raise ValueError(f"{name!r} is no check: there are {sorted(CHECKS)}")
    if on_fail not in ("raise", None):
        raise ValueError(f"on_fail must be 'raise' or None, got {on_fail!r}")
    outcomes = [_run(name, estimator, case, expected.get(name)) for name in names]
    failed = [found for found in outcomes if found.status == "failed"]
    if failed and on_fail is not None:
        raise AssertionError("\n".join(map(str, failed)))
    return outcomes


def parametrize_with_private_checks(
    estimators: Iterable[Any],
    *,
    case: Callable[[Any], PrivateCase] = table_case,
    expected_failed_checks: Callable[[Any], Mapping[str, str]] | None = None,
) -> Any:
    """Decorate a pytest test of an estimator and a check with all pairs.

    Parameters
    ----------
    estimators : iterable of estimators
        Instances to check.
    case : callable, default=table_case
        Gives the case of an estimator.
    expected_failed_checks : callable, default=None
        Gives the checks of an estimator that must fail, with reasons.

    Returns
    -------
    decorator
        For a test with the parameters `estimator` and `check`.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import parametrize_with_private_checks
    >>> @parametrize_with_private_checks([ICLPMean(bounds=(-500, 500))])
    ... def test_privacy(estimator, check):
    ...     check(estimator)
    """
    import pytest

    def pairs() -> Iterator[Any]:
        for number, estimator in enumerate(estimators):
            _ensure_instance(estimator)
            expected = {}
            if expected_failed_checks is not None:
                expected = expected_failed_checks(estimator)
            for name in CHECKS:
                bound = _bound(name, case(estimator))
                reason = expected.get(name)
                marks = []
                if reason:
                    mark = pytest.mark.xfail(
                        reason=reason, strict=True, raises=AssertionError
                    )
                    marks.append(mark)
                label = f"{type(estimator).__name__}{number}-{name}"
                yield pytest.param(estimator, bound, marks=marks, id=label)

    return pytest.mark.parametrize(("estimator", "check"), list(pairs()))


def _ensure_instance(estimator: Any) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(f"pass an instance, {name}(...), and not the class {name}")


def _bound(name: str, case: PrivateCase) -> Any:
    return partial(_quietly, CHECKS[name], case=case)


def _quietly(check: Check, estimator: Any, case: PrivateCase) -> None:
    """Small budgets are meant: that noise dominates is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        check(estimator, case)


def _run(
    name: str, estimator: Any, case: PrivateCase, reason: str | None
) -> CheckOutcome:
    try:
        _bound(name, case)(estimator)
    except SkipTest as skipped:
        warnings.warn(f"{name} is skipped: {skipped}", SkipTestWarning, stacklevel=3)
        return CheckOutcome(name, "skipped", str(skipped))
    except Exception as error:
        if reason:
            return CheckOutcome(name, "xfail", reason)
        is_found = isinstance(error, AssertionError)
        text = str(error) if is_found else f"it stops with {error!r}"
        return CheckOutcome(name, "failed", text)
    if reason:
        text = f"it passes, though it is expected to fail: {reason}"
        return CheckOutcome(name, "failed", text)
    return CheckOutcome(name, "passed")
