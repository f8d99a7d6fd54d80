"""One private function per person beside the published figures (local model).

Run ``python benchmarks/utility/local.py``. The setting is the published one: 50 sums of
one to five Gaussian bumps on [0, 100], from a seed of Python's ``random``; the error is
the mean over curves and repeats of norm(f - release) / norm(f), so releasing zero
scores 1. GP has epsilon = EPS, CGP rho = EPS^2 / 10. One default pipeline serves every
EPS: `geo_private_pipeline` with the public value bounds [0, 2500] and domain [0, 100].

Lines give, for each EPS, the mean of the errors, their median, the standard error of
the mean over curves (repeats averaged), the targets and the published figures, which
are quoted and not re-run. Further lines show the same with bounds four times too wide,
with a paid selection, and without denoising.
"""

from __future__ import annotations

import argparse
import random

import numpy as np

from skfuncpriv.local import geo_private_pipeline

GRID = np.linspace(0, 100, 1001)
LEVELS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
BOUNDS = (0.0, 2500.0)
ANCHORS = {
    "GP": {
        "published, SVT": (5.236, 2.677, 1.259, 0.854, 0.623, 0.416, 0.284),
        "published, best": (3.824, 1.988, 1.074, 0.703, 0.518, 0.289, 0.185),
        "target": (1.02, 0.95, 0.70, 0.48, 0.32, 0.19, 0.13),
    },
    "CGP": {
        "published, best": (4.017, 2.092, 1.025, 0.681, 0.438, 0.212, 0.125),
        "target": (1.00, 0.86, 0.58, 0.39, 0.25, 0.13, 0.075),
    },
}
WIDE = {"bounds": (0.0, 4 * 2500.0)}
VARIANTS = {
    "bounds 4 times too wide": WIDE,
    "paid selection (SVT)": {"selection": "svt"},
    "paid selection, wide": {"selection": "svt", **WIDE},
    "as published: SVT, no denoising": {"selection": "svt", "denoise": False},
}


def bumps(seed, n_curves=50):
    """The curves of the published experiment, on the grid."""
    source = random.Random(seed)
    curves = np.zeros((n_curves, len(GRID)))
    for curve in curves:
        for _ in range(source.randint(1, 5)):
            height = source.randint(50, 500)
            center, width = source.randint(0, 100), source.randint(2, 16)
            curve += height * np.exp(-((GRID - center) ** 2) / (2 * width**2))
    return curves


def norms(curves):
    """L2 norms of piecewise linear curves."""
    left, right = curves[..., :-1], curves[..., 1:]
    square = (left * left + left * right + right * right) / 3
    return np.sqrt((square * np.diff(GRID)).sum(axis=-1))


def errors(curves, kind, level, repeats, *, denoise=True, **parameters):
    """Relative errors, shape (n_curves, repeats)."""
    budget = {"epsilon": level} if kind == "GP" else {"rho": level**2 / 10}
    parameters = {"bounds": BOUNDS, "domain": (0, 100), **parameters}
    pipeline = geo_private_pipeline(**budget, **parameters)
    pipeline.set_params(release__denoise=denoise)
    rows = np.repeat(curves, repeats, axis=0)
    released = pipeline.inverse_transform(pipeline.fit_transform(rows))
    return (norms(rows - released) / norms(rows)).reshape(len(curves), repeats)


def line(name, numbers):
    print(f"  {name:38s}" + "".join(f"{number:8.3f}" for number in numbers))


def report(kind, seeds, repeats):
    print(f"{kind}, seeds {', '.join(map(str, seeds))}, {repeats} repeats")
    line("EPS", LEVELS)
    for name, numbers in ANCHORS[kind].items():
        line(name, numbers)
    curves = np.concatenate([bumps(seed) for seed in seeds])
    found = [errors(curves, kind, level, repeats) for level in LEVELS]
    line("ours, default: mean", [error.mean() for error in found])
    line("ours, default: median", [np.median(error) for error in found])
    spread = [error.mean(axis=1).std(ddof=1) for error in found]
    line("ours, default: standard error", np.array(spread) / np.sqrt(len(curves)))
    for name, parameters in VARIANTS.items():
        found = [errors(curves, kind, level, repeats, **parameters) for level in LEVELS]
        line(name, [error.mean() for error in found])
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 171, 172, 173])
    arguments = parser.parse_args()
    for kind in ANCHORS:
        for seed in arguments.seeds:
            report(kind, [seed], arguments.repeats)


if __name__ == "__main__":
    main()
