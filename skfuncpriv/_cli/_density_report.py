"""What ``density`` prints of a release: public facts and released numbers, in words."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import Any, TextIO

import numpy as np
from scipy.integrate import cumulative_trapezoid

from skfuncpriv.density import PrivateKDE
from skfuncpriv.plotting._density import marginal_density
from skfuncpriv.privacy import PrivacyGuarantee

from ._meaning import filled, rounded
from ._report import print_aligned

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MEANINGLESS = 20.0  # an epsilon that limits no odds
_RELEASED = {
    "gaussian_process": "the estimate plus a Gaussian process",
    "iclp": "noisy coefficients",
    "bernstein": "noisy values on a lattice",
}


def print_report(
    args: Namespace, model: PrivateKDE, names: list[str], box: Any, file: TextIO
) -> None:
    """What was asked and promised, how it was made, and quantiles of each column."""
    guarantee = model.guarantee_
    who = "people" if guarantee.unit == "person" else "rows"
    columns = ", ".join(
        f"{name} ({low:g} to {high:g})"
        for name, (low, high) in zip(names, box, strict=True)
    )
    highest = f"{model.density_.max():.3g}"
    print(f"Private density of {model.n_people_} {who}", file=file)
    print(f"  columns    {columns}", file=file)
    print(f"  guarantee  {guarantee}", file=file)
    print(f"  release    {_how(args, model)}", file=file)
    print(
        f"  noise      {model.noise_std_:.2g} at a point (root mean square); the "
        f"density reaches {highest}",
        file=file,
    )
    print(f"\n{filled(in_words(guarantee))}\n", file=file)
    lines = [["share below", *names]]
    quantiles = [_quantiles(model, axis) for axis in range(len(names))]
    for k, share in enumerate(_SHARES):
        lines.append([f"{share:.0%}", *(f"{column[k]:.4g}" for column in quantiles)])
    print_aligned(lines, file)
    print(
        "\nThe noise is that of the privacy alone: what smoothing hides and the error "
        "of sampling\nfrom a population come on top.\n",
        file=file,
    )


def in_words(guarantee: PrivacyGuarantee) -> str:
    """What the guarantee says, as odds that are never better than what holds."""
    who = "one row was"
    if guarantee.unit == "person":
        who = "all rows of one person were"
    text = f"In words: if {who} replaced by anything else, "
    if guarantee.epsilon > _MEANINGLESS:
        text += "much could change: an epsilon this large protects nobody."
    else:
        factor = rounded(math.exp(guarantee.epsilon), 3, up=True)
        text += (
            "whatever is written here would be at most "
            f"{factor:g} times as likely, or as unlikely"
        )
        if guarantee.delta:
            text += f", but for a chance of {guarantee.delta:g}"
        text += (
            ". Every run is another release; epsilons of the same "
            f"{'people' if guarantee.unit == 'person' else 'rows'} add up."
        )
    if guarantee.seeded:
        text += " SEEDED: none of this holds for who knows the seed."
    return text


def _how(args: Namespace, model: PrivateKDE) -> str:
    """What the noise was added to, and what came after."""
    what = _RELEASED.get(args.mechanism, "noisy bins")
    widths = " and ".join(f"{h:.3g}" for h in np.ravel(model.bandwidth_))
    is_binned = args.mechanism not in _RELEASED
    if is_binned and args.bandwidth == ["pss"] and not args.no_denoise:
        return f"{what} of width {widths}, denoised"
    return f"{what}, {args.kernel} kernel of bandwidth {widths}"


def _quantiles(model: PrivateKDE, axis: int) -> np.ndarray:
    """Quantiles of one column of the released density."""
    if len(model.grid_) == 1:
        return model.quantile(_SHARES)
    (nodes,), density = marginal_density(model.grid_, model.density_, (axis,))
    return np.interp(_SHARES, cumulative_trapezoid(density, nodes, initial=0), nodes)
