"""What a release prints and writes: released numbers and public facts, nothing else."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from skfuncpriv.exceptions import LargeDeltaWarning, NoiseDominatesWarning

from ._errors import CommandError

_COLUMNS = ("mean", "noise_std", "lower", "upper")
_MAX_ROWS = 12
_STYLES = {"t": ".4g", "coverage": ".2f"}
_READING = """
With probability {level:g} the mean without noise, on these coefficients, lies between
lower and upper, for all t at once; the error of sampling from a population is not
covered. After denoising that is approximate: it holds less often for curves with jumps
and narrow peaks that are too weak to be seen."""
_SPARSE_READING = """
mean is that of the people observed at t, coverage their released share. With
probability {level:g} the mean without noise lies between lower and upper, for all t at
once, under a prior of smooth curves; the error of sampling from a population is not
covered. Where coverage is small, mean follows from that prior more than from people."""
_LAWS = {
    "IndependentLaplace": "Laplace",
    "IndependentGaussian": "Gaussian",
    "SphericalLaplace": "spherical Laplace",
    "BlockSpherical": "block-spherical Laplace",
}


def has_matplotlib() -> bool:
    """Whether a picture can be drawn."""
    return find_spec("matplotlib") is not None


def check_writable(path: str, option: str) -> None:
    """Refuse an output before the budget is charged for it."""
    target = Path(path)
    if target.is_dir():
        raise CommandError(f"{option}: {path!r} is a folder, give the name of a file")
    if not target.parent.is_dir():
        raise CommandError(f"{option}: there is no folder {str(target.parent)!r}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise CommandError(f"{option}: {path!r} cannot be written")


def fit(model: Any, curves: Any, groups: Any = None) -> Any:
    """Fit, with the warnings that are public as lines on stderr and no other."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(curves, groups=groups)
    for warning in caught:
        if issubclass(warning.category, LargeDeltaWarning | NoiseDominatesWarning):
            print(f"warning: {warning.message}", file=sys.stderr)
    return model


def columns_of(
    model: Any, level: float, outputs: list[str] | None
) -> dict[str, np.ndarray]:
    """The released table: t, and four columns for each output."""
    lower, upper = model.noise_band(level)
    parts = [model.mean_, model.noise_std_, lower, upper]
    columns = {"t": model.grid_}
    if hasattr(model, "coverage_"):
        columns["coverage"] = model.coverage_
    if model.mean_.ndim == 1:
        return columns | dict(zip(_COLUMNS, parts, strict=True))
    for j in range(model.mean_.shape[1]):
        suffix = j if outputs is None else outputs[j]
        for name, part in zip(_COLUMNS, parts, strict=True):
            columns[f"{name}_{suffix}"] = part[:, j]
    return columns


def write_csv(path: str, columns: dict[str, Any], *, seeded: bool) -> None:
    """Write texts, and numbers with all digits; a seeded table says so in each row."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, *(["seeded"] if seeded else [])])
        for row in zip(*columns.values(), strict=True):
            cells = [x if isinstance(x, str) else repr(float(x)) for x in row]
            writer.writerow([*cells, *(["SEEDED"] if seeded else [])])


def write_json(path: str, guarantee: Any) -> None:
    """Write the guarantee; '-' is standard output."""
    text = json.dumps(guarantee.to_dict(), indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")


def write_plot(
    path: str,
    model: Any,
    level: float,
    *,
    reference: Any = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    names: list[str] | None = None,
    unit: str = "row",
) -> None:
    """Draw the mean and its band, without touching the windows of pyplot."""
    from matplotlib.figure import Figure

    from skfuncpriv.plotting import MeanCurveDisplay

    n_panels = model.mean_[0].size
    height = 4.2 if n_panels == 1 else 1.2 + 2.4 * n_panels
    figure = Figure(figsize=(7, height), layout="constrained")
    panels = figure.subplots(n_panels, sharex=True, squeeze=False).ravel()
    MeanCurveDisplay.from_estimator(
        model,
        panels,
        level=level,
        reference=reference,
        names=names,
        guarantee=promise(model, unit),
    )
    panels[-1].set_xlabel(xlabel or panels[-1].get_xlabel())
    if ylabel and n_panels == 1:
        panels[0].set_ylabel(ylabel)
    elif ylabel:
        figure.supylabel(ylabel)
    figure.savefig(path, format="png", dpi=150)


def promise(model: Any, unit: str) -> str:
    """The guarantee; what it calls a row is a whole curve in a long table."""
    text = str(model.guarantee_).replace("per row", f"per {unit}")
    return text.replace("one row", f"one {unit}")


def print_release(
    model: Any,
    columns: dict[str, np.ndarray],
    level: float,
    file: TextIO,
    source: str,
    unit: str = "row",
) -> None:
    """The guarantee, how it was kept, and a table of some points."""
    who = "people" if model.guarantee_.unit == "person" else "curves"
    law = _LAWS.get(type(model.law_).__name__, type(model.law_).__name__)
    denoised = ", denoised" if is_denoised(model) else ""
    print(f"Private mean of {model.n_people_} {who}", file=file)
    print(f"  curve      {source}", file=file)
    print(f"  guarantee  {promise(model, unit)}", file=file)
    print(f"  noise      {law}, {model.law_.size} coefficients{denoised}", file=file)
    print(file=file)
    print_table(columns, file)
    reading = _SPARSE_READING if hasattr(model, "coverage_") else _READING
    print(reading.format(level=level), file=file)


def is_denoised(model: Any) -> bool:
    """Whether the mean is not the noisy one; a sparse mean is always solved for."""
    return hasattr(model, "coverage_") or bool(model.denoise)


def print_table(columns: dict[str, np.ndarray], file: TextIO) -> None:
    """At most a dozen rows, evenly chosen, two digits finer than the noise."""
    n_points = len(columns["t"])
    rows = np.unique(np.linspace(0, n_points - 1, _MAX_ROWS).round().astype(int))
    noise = [part for name, part in columns.items() if name.startswith("noise_std")]
    finest = min(part[part > 0].min(initial=np.inf) for part in noise)
    decimals = max(0, 1 - math.floor(math.log10(finest))) if finest < np.inf else 4
    cells = []
    for name, part in columns.items():
        style = _STYLES.get(name, f".{decimals}f")
        cells.append([name, *(format(part[i], style) for i in rows)])
    print_aligned(zip(*cells, strict=True), file)
    if len(rows) < n_points:
        print(f"  ({len(rows)} of {n_points} points)", file=file)


def print_aligned(lines: Iterable[Sequence[str]], file: TextIO) -> None:
    """Words in columns, aligned on the right."""
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        words = (word.rjust(width) for word, width in zip(line, widths, strict=True))
        print("  " + "   ".join(words).rstrip(), file=file)
