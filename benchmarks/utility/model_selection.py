"""What a private search picks, beside an oracle who knows the true errors.

Run ``python benchmarks/utility/model_selection.py --demand PATH/mondaydemand.csv.gz``.
All settings of the search are default; people are the 655 storms, or the 508 weeks of
demand.

*Error.* For the bandwidth it is the L2 distance of the density from that of
`PrivateKDE` with its default settings at epsilon = 10^7, which shows no noise; for the
number of components the L2 distance of the covariance function that they make up from
the plain sample covariance; both divided by the norm of the truth. The error of a value
of the grid is the mean over fits (20 by default) on as many people, at the budget, of
the last fit of the search. The oracle takes the value where it is smallest, which
nobody can tell without the truth. ``exhaustive`` is the error of the value that was
picked, ``random-stopping`` that of the estimator that was released. The non-private
error of a value is that of a fit on everybody without noise.

Columns: the median and the largest over searches (20 seeds) of the error divided by
that of the oracle, what a pick at random would have on average, and how often each
value was picked.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from skfuncpriv import (
    NoiseDominatesWarning,
    PrivateFPCA,
    PrivateGridSearchCV,
    PrivateKDE,
)
from skfuncpriv.datasets import load_storms

BOX = ([-110.0, 5.0], [0.0, 60.0])
BANDWIDTHS = (2.0, 4.0, 8.0, 16.0, 32.0)  # degrees
COMPONENTS = (1, 2, 3, 4, 6, 8)
EXACT = 1e7
METHODS = ("exhaustive", "random-stopping")


class Bandwidth:
    """The bandwidth of the positions of storms."""

    name = "bandwidth"

    def __init__(self) -> None:
        table = load_storms().data
        self.X = np.column_stack([table["lon"], table["lat"]])
        self.groups = table["storm"]
        self.model = PrivateKDE(bounds=BOX)
        self.grid = {"bandwidth": list(BANDWIDTHS)}
        truth = PrivateKDE(bounds=BOX, epsilon=EXACT, random_state=0)
        truth.fit(self.X, groups=self.groups)
        weights = [trapezoid(nodes) for nodes in truth.grid_]
        self.weights = reduce(np.multiply.outer, weights)
        self.truth = truth.density_

    def function(self, model: Any) -> np.ndarray:
        return model.density_

    def errors(self, epsilon: float, seed: int, share: float = 1.0) -> list[float]:
        """Of a fit with each value of the grid, on a share of the people."""
        X, groups = self.some(share, seed)
        found = []
        for model in self.models():
            model.set_params(epsilon=epsilon, random_state=seed)
            found.append(self.error(model.fit(X, groups=groups)))
        return found

    def models(self) -> list[Any]:
        (name, values), *_ = self.grid.items()
        return [clone(self.model).set_params(**{name: value}) for value in values]

    def some(self, share: float, seed: int) -> tuple[np.ndarray, Any]:
        """The rows of some people."""
        rng = np.random.default_rng(seed)
        people = np.arange(len(self.X)) if self.groups is None else self.groups
        labels = np.unique(people)
        kept = rng.permutation(labels)[: round(share * len(labels))]
        rows = np.isin(people, kept)
        return self.X[rows], None if self.groups is None else self.groups[rows]

    def error(self, model: Any) -> float:
        square = self.weights * np.square(self.function(model) - self.truth)
        return float(np.sqrt(square.sum() / np.sum(self.weights * self.truth**2)))


class Components(Bandwidth):
    """The number of components of curves of demand."""

    name = "components"

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt") as file:
            table = np.genfromtxt(file, delimiter=",", skip_header=1)
        self.X, self.groups = table[:, -48:], None
        hours = np.linspace(0, 24, 48)
        self.model = PrivateFPCA(bounds=(500, 3500), domain=(0, 24), grid=hours)
        self.grid = {"n_components": list(COMPONENTS)}
        self.weights = np.multiply.outer(trapezoid(hours), trapezoid(hours))
        self.truth = np.cov(self.X.T, bias=True)

    def function(self, model: Any) -> np.ndarray:
        return (model.components_.T * model.explained_variance_) @ model.components_


def trapezoid(nodes: np.ndarray) -> np.ndarray:
    """Weights of the trapezoidal rule."""
    step = np.diff(nodes)
    return (np.append(step, 0) + np.append(0, step)) / 2


def report(problem: Any, epsilon: float, n_seeds: int) -> None:
    """Print the errors of all values, and one row for each way to search."""
    values = next(iter(problem.grid.values()))
    print(f"{problem.name}, epsilon = {epsilon:g}: {values}")
    print("  non-private errors", np.round(problem.errors(EXACT, 0), 3))
    for method in METHODS:
        search = PrivateGridSearchCV(
            problem.model, problem.grid, epsilon=epsilon, method=method
        )
        picks, own = [], []
        for seed in range(n_seeds):
            search.set_params(random_state=seed)
            search.fit(problem.X, groups=problem.groups)
            picks.append(search.best_index_)
            own.append(problem.error(search.best_estimator_))
        is_refit = method == "exhaustive"
        cost = search.costs_["refit" if is_refit else "run"].epsilon
        share = 1.0 if is_refit else 1 - search.selection_size
        fits = [problem.errors(cost, 1000 + s, share) for s in range(n_seeds)]
        errors = np.mean(fits, axis=0)
        ratio = (errors[picks] if is_refit else np.array(own)) / errors.min()
        counts = sorted(Counter(values[k] for k in picks).items())
        print(f"  {method}: errors at epsilon = {cost:.3g}", np.round(errors, 3))
        print(
            f"    median {np.median(ratio):.3f}  largest {ratio.max():.3f}  "
            f"at random {np.mean(errors / errors.min()):.3f}  {dict(counts)}",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--demand", type=Path, help="mondaydemand.csv.gz")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[2.0])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    problems: list[Any] = []
    if arguments.demand is not None:
        problems.append(Components(arguments.demand))
    problems.append(Bandwidth())
    for problem in problems:
        for epsilon in arguments.epsilon:
            report(problem, epsilon, arguments.seeds)


if __name__ == "__main__":
    main()
