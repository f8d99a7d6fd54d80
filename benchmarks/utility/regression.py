"""Error of private regression against n and epsilon, with the slopes theory says.

Run ``python benchmarks/utility/regression.py slopes.png``: for each case the excess
squared error of predictions, on simulated data, over the best linear function of the
true features, by route, epsilon and n; and a plot of it against n * epsilon. Where psi
is of the order of the noise, statistics have excess errors between (n epsilon)^-1,
as long as penalties still bite, and (n epsilon)^-2, in the end; sampling adds 1 / n.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from skfuncpriv import ICLPRegressor
from skfuncpriv.basis import CosineBasis
from skfuncpriv.exceptions import NoiseDominatesWarning

SIZES = (300, 1000, 3000, 10_000, 30_000)
EPSILONS = (0.5, 2.0, 8.0)
SEEDS = 12
T = np.linspace(0, 1, 40)


def response(n: int, rng: np.random.Generator, *, noisy: bool = True):
    """Three covariates, a curve of them."""
    X = rng.uniform(-1, 1, (n, 3))
    Y = np.sin(6 * T) + X[:, :1] * T + X[:, 1:2] * np.cos(3 * T)
    return X, Y + noisy * 0.3 * rng.normal(size=Y.shape)


def curve(n: int, rng: np.random.Generator, *, noisy: bool = True):
    """A rough curve, and a weighted integral of it."""
    scores = rng.normal(size=(n, 8)) / (1 + np.arange(8))
    X = np.clip(scores @ CosineBasis(8).evaluate(T).T, -4, 4)
    y = np.trapezoid(X * np.cos(3 * T), T, axis=1)
    return X, y + noisy * 0.3 * rng.normal(size=n)


def surface(n: int, rng: np.random.Generator, *, noisy: bool = True):
    """A smooth function of two numbers."""
    X = rng.uniform(0, 1, (n, 2))
    y = np.sin(5 * X[:, 0]) * (1 - X[:, 1])
    return X, y + noisy * 0.3 * rng.normal(size=n)


CASES = {
    "curve response": (
        response,
        {"X_bounds": (-1, 1), "y_bounds": (-4, 4), "y_domain": (0, 1)},
    ),
    "curve covariate": (
        curve,
        {"X_bounds": (-4, 4), "y_bounds": (-3, 3), "X_domain": (0, 1)},
    ),
    "kernel": (surface, {"X_bounds": (0, 1), "y_bounds": (-2, 2)}),
}


def excess(case: str, n: int, epsilon: float, method: str, seed: int) -> float:
    """The squared error of predictions of the noiseless targets."""
    simulate, facts = CASES[case]
    rng = np.random.default_rng([seed, n])
    model = ICLPRegressor(**facts, epsilon=epsilon, method=method)
    model.fit(*simulate(n, rng))
    X, wanted = simulate(500, np.random.default_rng(99), noisy=False)
    return float(np.mean(np.square(model.predict(X) - wanted)))


def table() -> dict[tuple[str, str, float, int], float]:
    """The median over seeds of the excess error."""
    return {
        (case, method, epsilon, n): float(
            np.median([excess(case, n, epsilon, method, s) for s in range(SEEDS)])
        )
        for case in CASES
        for method in ("statistics", "minimiser", "auto")
        for epsilon in EPSILONS
        for n in SIZES
    }


def draw(errors: dict, path: str) -> None:
    """Excess error against n * epsilon, with slopes of one and two."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(CASES), figsize=(14, 4.5), sharex=True)
    marks = dict(zip(EPSILONS, "os^", strict=True))
    colours = {"statistics": "C0", "minimiser": "C1"}
    for ax, case in zip(axes, CASES, strict=True):
        for method, colour in colours.items():
            for epsilon in EPSILONS:
                values = [errors[case, method, epsilon, n] for n in SIZES]
                label = f"{method}, epsilon = {epsilon:g}"
                x = epsilon * np.array(SIZES)
                ax.plot(x, values, marks[epsilon] + "-", color=colour, label=label)
        x = np.geomspace(3e3, 2.4e5, 2)
        top = errors[case, "statistics", 2.0, 1000]
        for power, style in ((1, ":"), (2, "--")):
            label = f"slope -{power}"
            ax.plot(x, top * (2e3 / x) ** power, style, color="0.5", label=label)
        ax.set(xscale="log", yscale="log", title=case, xlabel="n * epsilon")
    axes[0].set_ylabel("excess squared error of predictions")
    axes[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the table, and draw it to the path on the command line."""
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    errors = table()
    print(
        f"{'case':16} {'epsilon':>7} {'n':>6} {'statistics':>11} {'minimiser':>10} auto"
    )
    for case in CASES:
        for epsilon in EPSILONS:
            for n in SIZES:
                each = [
                    errors[case, method, epsilon, n]
                    for method in ("statistics", "minimiser", "auto")
                ]
                print(
                    f"{case:16} {epsilon:7g} {n:6d} {each[0]:11.5f} "
                    f"{each[1]:10.5f} {each[2]:.5f}"
                )
    if len(sys.argv) > 1:
        draw(errors, sys.argv[1])


if __name__ == "__main__":
    main()
