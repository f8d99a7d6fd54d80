"""``demo``: a private mean of the bundled curves, as a table and a picture."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import numpy as np

from skfuncpriv.datasets import load_elnino
from skfuncpriv.iclp import ICLPMean

from . import _report as report
from ._files import refuse_strict
from ._parser import PROG

_LEVEL = 0.95
_SOURCE = "JAN ... DEC (12 points, t = 0.5 to 11.5)"


def run(args: Namespace) -> int:
    """Release, print and write."""
    refuse_strict("demo", "it charges no ledger, and shows a mean without noise")
    table, picture = (
        str(Path(args.out_dir) / f"demo_mean.{end}") for end in ("csv", "png")
    )
    report.check_writable(table, "--out-dir")
    years = load_elnino()
    model = ICLPMean(
        bounds=(15, 32), domain=(0, 12), grid=years.grid, epsilon=args.epsilon
    )
    report.fit(model, years.data)

    print("Sea-surface temperature off Peru, one curve a year, 1950 to 2010.")
    print(
        "The bounds are public knowledge: that sea has between 15 and 32 degrees C.\n"
    )
    columns = report.columns_of(model, _LEVEL, None)
    report.write_csv(table, columns, seeded=False)
    report.print_release(model, columns, _LEVEL, sys.stdout, _SOURCE)
    true_mean = years.data.mean(axis=0)
    distance = np.sqrt(np.mean((model.mean_ - true_mean) ** 2))
    print(
        f"\nThese curves are public, so the mean without noise may be shown here: the\n"
        f"private one is {distance:.2g} degrees away from it (root mean square). 61 "
        f"curves are\nfew; for what more of them would do, see: {PROG} plan --help"
    )
    print(f"\nWrote {table}")
    if report.has_matplotlib():
        labels = {"xlabel": "month", "ylabel": "degrees C"}
        report.write_plot(picture, model, _LEVEL, reference=true_mean, **labels)
        print(f"Wrote {picture} (dashed: the mean without noise)")
    else:
        print("No picture: it needs matplotlib, pip install 'skfuncpriv[plot]'")
    print(f"\nNext: {PROG} demo --epsilon 1    or    {PROG} mean --help")
    return 0
