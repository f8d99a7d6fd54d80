"""``trace --plan``: noise and detail by radius and odds, before anything is paid."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from typing import Any

import numpy as np

from skfuncpriv._validation import check_positive
from skfuncpriv.exceptions import NoiseDominatesWarning
from skfuncpriv.local import GeoPrivateCurve
from skfuncpriv.plotting._trace_facts import typical_noise

from ._arguments import PROG
from ._files import refuse_strict
from ._meaning import filled, metres
from ._report import print_aligned
from ._trace_request import (
    Public,
    budget_for,
    ledger_amount,
    request_lines,
    warn_of_slips,
)

_RADII = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
_ODDS = (3.0, 10.0, 30.0)
_NO_DATA = np.zeros((1, 2, 2))  # a form: no value of it is looked at
_RULE = {
    False: "noise = radius * sqrt(m (m + 1)) / log(odds)",
    True: "noise = sqrt(m / (2 rho length)), rho by radius, odds and delta",
}
_DETAIL = (
    "In brackets: the coefficients of each coordinate. 1 is a place and not a track, 2 "
    "are nearly a straight line, more a smooth track; what is finer than they are is "
    "lost as well. Denoising comes on top, is free and lowers the noise, not that loss."
)
# 300 random walks at 1.3 m/s, medians of the root mean square over time; seed 0.
_MEASURED = (
    "Measured on simulated walks of two hours in 10 x 10 km, radii of 20 to 200 m and "
    "the lost detail included: a release is off by 5 to 15 times the radius at odds 3, "
    "4 to 11 times at odds 10, 3 to 8 times at odds 30; the smaller the radius, the "
    "more times."
)


def show_plan(args: Namespace, public: Public) -> None:
    """Print the table and how to read it; neither data nor a budget is touched."""
    refuse_strict("trace --plan", "it charges no ledger")
    radii = _RADII if args.hide is None else [check_positive(args.hide, "--hide")]
    odds = _ODDS if args.odds is None else [args.odds]
    lines = [["radius", *(f"odds = {factor:g}" for factor in odds)]]
    for radius in radii:
        cells = [_forecast(args, public, radius, factor) for factor in odds]
        lines.append([metres(radius), *cells])
    print("Typical noise at a point, before denoising, and number of coefficients")
    for name, text in request_lines(args, public)[:2]:
        print(f"  {name:<9}  {text}")
    if args.delta:
        print(f"  chance     {args.delta:g}: concentrated geo-privacy (--delta)")
    print()
    print_aligned(lines, sys.stdout)
    if any("!" in cell for line in lines for cell in line):
        print("! The noise is as large as the area: next to nothing would be seen.")
    rule = f"Rule of thumb: {_RULE[bool(args.delta)]}, m coefficients of both "
    print("\n" + filled(_DETAIL))
    print(filled(f"{rule}coordinates together."))
    if not args.delta:
        print(filled(_MEASURED))
    print(
        "\nNothing was read, charged or released. Every run without --plan is another "
        "release\nof the same trace, and they add up."
    )
    if args.hide is not None and args.odds is not None:
        amount = ledger_amount(args, public.domain)
        print(
            "A budget for three such releases:\n"
            f"  {PROG} ledger create traces.db {amount} --metric L2"
        )
    warn_of_slips(args, public)


def _forecast(args: Namespace, public: Public, radius: float, odds: float) -> str:
    """The noise and the number of coefficients of one release."""
    model = GeoPrivateCurve(
        bounds=public.bounds,
        domain=public.domain,
        **budget_for(args, radius, odds, public.domain),
    )
    with warnings.catch_warnings():  # the table has a mark of its own for it
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        model.fit(_NO_DATA)
    noise = typical_noise(model)
    mark = "!" if is_all_noise(model, noise) else " "
    return f"{metres(noise)} ({model.n_coefficients_}){mark}"


def is_all_noise(model: Any, noise: float) -> bool:
    """Whether the noise is as large as the area, by public facts."""
    low, high = model.domain
    return bool(noise >= model.norm_bound_ / np.sqrt(2 * (high - low)))
