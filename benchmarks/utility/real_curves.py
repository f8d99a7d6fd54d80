"""The error of private mean curves on two real data sets: the table of the README.

Run ``python benchmarks/utility/real_curves.py``; it needs ``../shared/data``.

- Monday demand: electricity demand of Adelaide in 48 half hours, 508 Mondays, one row
  one Monday; bounds 500 to 3500 MW, domain 0 to 24 h.
- Tracts: fractional anisotropy at 93 positions of the corpus callosum, 382 scans of
  142 people (``groups=ID``), gaps interpolated; bounds 0 to 1, domain 0 to 1.

The error of one release is the root of the mean, over the points of the grid, of the
squared distance between the private mean and the mean of the same people without
noise. All parameters are the defaults, and the noise is that of the operating system.

``forecast`` is ``expected_error``: what denoising is expected to leave of the noise.
The error of these releases is 0.5 to 1.1 times that, where the release takes one round,
less where it hardly says more than the bounds, and half of it where two rounds shrink
the ball. On simulated curves (people times epsilon from 60 to 4000) it is 0.2 to 0.7
times the forecast for constants, 0.3 to 1.2 times for smooth curves, and up to 3 times
for steps and flat spectra, whose bias outgrows the noise: the forecast of the bias is
apart, in ``privacy_safe_parameters``.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from skfuncpriv import ICLPMean, NoiseDominatesWarning
from skfuncpriv.curves import as_curves

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
EPSILONS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
COLUMNS = ("epsilon", "demand (MW)", "forecast", "tracts", "forecast")


def demand():
    """Curves, people and public facts of the Monday demand."""
    curves = pd.read_csv(DATA / "mondaydemand.csv.gz").filter(regex="^hh").to_numpy()
    public = {"bounds": (500, 3500), "domain": (0, 24), "grid": np.linspace(0, 24, 48)}
    return curves, None, public


def tracts():
    """Curves, people and public facts of the tracts."""
    frame = pd.read_csv(DATA / "dti_cca.csv.gz")
    public = {"bounds": (0, 1), "domain": (0, 1), "grid": np.linspace(0, 1, 93)}
    public["missing"] = "interpolate"
    return frame.filter(regex="^cca_").to_numpy(), frame["ID"].to_numpy(), public


def curves_of_people(curves, groups, public):
    """One curve for each person, without noise and without clipping."""
    facts = {name: public.get(name) for name in ("grid", "domain")}
    filled = as_curves(curves, missing=public.get("missing", "error"), **facts)
    rows = pd.DataFrame(filled.values[:, :, 0])
    return (rows if groups is None else rows.groupby(groups).mean()).to_numpy()


def errors(data, epsilon, n_draws):
    """The errors of `n_draws` releases, and the noise forecast before any data."""
    curves, groups, public = data
    people = curves_of_people(*data)
    model = ICLPMean(epsilon=epsilon, **public)
    draws = [
        model.fit(curves, groups=groups).mean_ - people.mean(axis=0)
        for _ in range(n_draws)
    ]
    length = public["domain"][1] - public["domain"][0]
    forecast = np.sqrt(model.expected_error(len(people)) / length)
    return np.sqrt(np.mean(np.square(draws), axis=1)), forecast


def scales(data):
    """What an error may be compared with: three root mean squares over the grid."""
    people = curves_of_people(*data)
    mean, middle = people.mean(axis=0), np.mean(data[2]["bounds"])
    sampling = people.var(axis=0, ddof=1) / len(people)
    return [
        len(people),
        np.sqrt(np.mean((mean - middle) ** 2)),
        mean.max() - mean.min(),
        np.sqrt(sampling.mean()),
    ]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200, help="releases of each cell")
    n_draws = parser.parse_args().draws
    if not DATA.is_dir():
        parser.exit(1, "the folder ../shared/data is absent\n")
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    cases = (demand(), 1), (tracts(), 4)
    widths = (7, 15, 8, 16, 8)
    rule = "  ".join("=" * width for width in widths)

    def row(cells):
        print("  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)))

    print(rule)
    row(COLUMNS)
    print(rule)
    for epsilon in EPSILONS:
        cells = [f"{epsilon:g}"]
        for data, decimals in cases:
            found, forecast = errors(data, epsilon, n_draws)
            error = found.std(ddof=1) / np.sqrt(n_draws)
            cells.append(f"{found.mean():.{decimals}f} +- {error:.{decimals}f}")
            cells.append(f"{forecast:.{decimals}f}")
        row(cells)
    print(rule)
    print(f"\nMean of {n_draws} releases +- its standard error. To compare with:\n")
    for name, (data, decimals) in zip(("demand", "tracts"), cases, strict=True):
        n_people, middle, spread, sampling = scales(data)
        print(
            f"- {name}: {n_people} contributions; the mean curve spans "
            f"{spread:.{decimals}f}; the middle of\n  the bounds, which needs no data, "
            f"is {middle:.{decimals}f} away from it; the sampling\n  error of the mean "
            f"without noise is {sampling:.{decimals}f}."
        )


if __name__ == "__main__":
    main()
