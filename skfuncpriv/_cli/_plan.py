"""``plan``: the expected error by number of people and epsilon, without data."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from typing import Any

import numpy as np

from skfuncpriv.iclp import ICLPMean
from skfuncpriv.iclp._parameters import public_plan

from ._mean import check_intervals
from ._report import print_aligned


def run(args: Namespace) -> int:
    """Print the table."""
    check_intervals(args, "plan")
    grid = None if args.points is None else np.linspace(*args.domain, args.points)
    lines = [["people", *(f"epsilon = {epsilon:g}" for epsilon in args.epsilon)]]
    choices = [list(lines[0])]
    half_range = (args.bounds[1] - args.bounds[0]) / 2
    for n_people in args.n:
        errors, laws = [str(n_people)], [str(n_people)]
        for epsilon in args.epsilon:
            model = ICLPMean(
                bounds=args.bounds,
                domain=args.domain,
                grid=grid,
                epsilon=epsilon,
                delta=args.delta,
                mechanism=args.mechanism,
            )
            error, law = _forecast(model, n_people, args.points)
            errors.append(f"{error:.3g}" + ("!" if error >= half_range else " "))
            laws.append(law)
        lines.append(errors)
        choices.append(laws)
    low, high = args.bounds
    delta = f", delta = {args.delta:g}" if args.delta else ""
    print(f"Noise per point (root mean square), values from {low:g} to {high:g}{delta}")
    print_aligned(lines, sys.stdout)
    print("\nMechanism and number of coefficients")
    print_aligned(choices, sys.stdout)
    print(
        "\nDenoising comes on top, is free and mostly lowers the error.\n"
        "Twice the people help about as much as twice the epsilon."
    )
    if any("!" in cell for line in lines for cell in line):
        print("! The noise is as large as the curves can be: nothing would be seen.")
    return 0


def _forecast(model: Any, n_people: int, n_points: int | None) -> tuple[float, str]:
    """Noise per point, and the choices behind it; public facts only."""
    square = model.expected_error(n_people)
    low, high = model.domain
    plan, _ = public_plan(model, n_people, 1, (low, high), n_points)
    return math.sqrt(square / (high - low)), f"{plan.mechanism} {plan.size}"
