"""Pictures of several panels: a figure of their own, or a part of one.

Several panels in the place of one axes are a figure within the figure, so that words
that are said of all of them have a place: the guarantee above, the legend below.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ._frame import HANDLE, NEEDS_MATPLOTLIB, letters

_LEAST_INCHES = 1.5
_SHARE = 0.93  # of the width of a figure, for words


def open_panels(
    ax: Any, n_rows: int, n_columns: int, size: tuple[float, float], **share: Any
) -> tuple[Any, np.ndarray]:
    """The figure of the panels, and the panels, of shape (n_rows, n_columns).

    Without axes it is a new figure of `size` inches. A single panel is `ax` itself.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(NEEDS_MATPLOTLIB) from None
    if ax is None:
        figure = plt.figure(figsize=size, layout="constrained")
    elif n_rows == n_columns == 1:
        return ax.figure, np.array([[ax]], dtype=object)
    else:
        place = ax.get_subplotspec()
        if place is None:
            raise ValueError("panels need axes of a grid, as those of plt.subplots()")
        if not ax.axison:
            raise ValueError("these axes hold panels already: pass other axes")
        ax.set_axis_off()
        figure = ax.figure.add_subfigure(place)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **share)


def columns_for(n_panels: int, ax: Any) -> int:
    """How many panels stand side by side: they need some inches each."""
    most = 3
    if ax is not None:
        most = max(1, int(ax.get_window_extent().width / ax.figure.dpi / _LEAST_INCHES))
    return min(n_panels, 2 if n_panels == 4 else 3, most)


def write_around_panels(
    figure: Any, ax: Any, guarantee: Any, note: str | None = None
) -> None:
    """The guarantee above all panels; a note and the legend of one of them below."""
    width = int(_SHARE * letters(figure))
    if guarantee is not None:
        text = textwrap.fill(str(guarantee), width=width)
        figure.suptitle(text, x=0.01, ha="left", fontsize="small", color="0.35")
    handles, labels = ax.get_legend_handles_labels()
    labels = [textwrap.fill(label, width=width - HANDLE) for label in labels]
    widest = max([HANDLE + len(label) for label in labels], default=width)
    legend = figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=max(1, min(len(labels), width // widest)),
        title=None if note is None else textwrap.fill(note, width=width),
        alignment="left",
        fontsize="small",
        frameon=False,
    )
    legend.get_title().set(fontsize="x-small", color="0.35")
