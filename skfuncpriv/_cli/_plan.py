"""``plan``: expected errors by number of people and epsilon, without data."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfuncpriv._planned import PlannedRelease
from skfuncpriv._privacy_safe import privacy_safe_parameters
from skfuncpriv._validation import check_interval
from skfuncpriv.density import PrivateKDE
from skfuncpriv.iclp import ICLPCovariance, ICLPMean

from ._errors import CommandError
from ._mean import check_intervals
from ._report import print_aligned

_DENOISED = "Denoising, which is free, is reckoned with; lost detail comes on top."
_NOISY = "Denoising comes on top, is free and mostly lowers the error."


@dataclass(frozen=True)
class _Subject:
    """An estimator without data, and what its errors are compared with.

    `size` is that of its domain; `largest` is how large `compared` is.
    """

    estimator: Any
    what: str
    size: float
    largest: float
    compared: str


def run(args: Namespace) -> int:
    """Print the tables."""
    subject = _SUBJECTS[args.estimator](args)
    table = privacy_safe_parameters(
        subject.estimator, args.n, epsilon=args.epsilon, n_points=args.points
    )
    header = ["people", *(f"epsilon = {epsilon:g}" for epsilon in args.epsilon)]

    def by_people(cells: Iterable[str]) -> list[list[str]]:
        width, cells = len(args.epsilon), list(cells)
        return [header] + [
            [str(n), *cells[k * width : (k + 1) * width]] for k, n in enumerate(args.n)
        ]

    def noise(row: PlannedRelease) -> str:
        error = math.sqrt(row.noise / subject.size)
        return f"{error:.3g}" + ("!" if error >= subject.largest else " ")

    errors = list(map(noise, table))
    delta = f", delta = {args.delta:g}" if args.delta else ""
    print(f"Noise per point (root mean square), {subject.what}{delta}")
    print_aligned(by_people(errors), sys.stdout)
    if args.parameters:
        print("\nParameters that public facts choose, and what they cost")
        print(table)
    else:
        print("\nMechanism and number of coefficients")
        laws = (f"{row.mechanism} {row.n_functions}" for row in table)
        print_aligned(by_people(laws), sys.stdout)
    print(f"\n{_DENOISED if table[0].denoised else _NOISY}")
    print("Twice the people help about as much as twice the epsilon.")
    if any("!" in error for error in errors):
        print(f"! The noise is as large as {subject.compared}: nothing would be seen.")
    return 0


def _mean(args: Namespace) -> _Subject:
    model = ICLPMean(**_of_curves(args))
    (low, high), (start, stop) = args.bounds, args.domain
    return _Subject(
        model,
        f"values from {low:g} to {high:g}",
        size=stop - start,
        largest=(high - low) / 2,
        compared="the curves can be",
    )


def _covariance(args: Namespace) -> _Subject:
    model = ICLPCovariance(**_of_curves(args))
    (low, high), (start, stop) = args.bounds, args.domain
    return _Subject(
        model,
        f"covariance of values from {low:g} to {high:g}",
        size=(stop - start) ** 2,
        largest=(high - low) ** 2 / 4,
        compared="covariances can be",
    )


def _density(args: Namespace) -> _Subject:
    for option in ("domain", "points"):
        if getattr(args, option) is not None:
            raise CommandError(
                f"--{option} is no part of a density, which lives on its --bounds"
            )
    if args.mechanism != "auto":
        raise CommandError("--mechanism is a law for curves, not for a density")
    if args.bounds is None:
        raise CommandError(
            "--bounds LO HI is missing: the values that are possible, from public "
            "knowledge"
        )
    low, high = check_interval(args.bounds, "--bounds")
    return _Subject(
        PrivateKDE(bounds=(low, high), delta=args.delta),
        f"density of values from {low:g} to {high:g}",
        size=high - low,
        largest=1 / (high - low),
        compared="a uniform density",
    )


def _of_curves(args: Namespace) -> dict[str, Any]:
    """What estimators of curves share."""
    check_intervals(args, "plan")
    grid = None if args.points is None else np.linspace(*args.domain, args.points)
    names = ("bounds", "domain", "delta", "mechanism")
    return {"grid": grid, **{name: getattr(args, name) for name in names}}


_SUBJECTS = {"mean": _mean, "covariance": _covariance, "density": _density}
