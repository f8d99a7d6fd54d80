"""What the pictures of all displays share: colours, a frame, words around it."""

from __future__ import annotations

import textwrap
from typing import Any

from sklearn.exceptions import NotFittedError

NEEDS_MATPLOTLIB = (
    "plotting needs matplotlib: install the extra with pip install 'skfuncpriv[plot]'"
)
COLOURS = ("#2a5c8a", "#b5532a", "#3f7d4e", "#7a4d8f", "#8a7a1f", "#4d4d4d")
# Measures of the small font: letters in an inch, the handle of a legend in letters.
_LETTERS_PER_INCH, HANDLE, _LINE_INCHES = 16, 8, 0.17
_SMALLER = 1.2  # how many more letters of the smaller font are as wide
_MANY_LINES = 3  # of a guarantee: from here on it takes the smaller font
_BAR_GAP = 0.08  # between a scale bar and the data, as a share of their extent
_BELOW_INCHES = 0.5  # numbers and name of the axis
_SHAPES = {
    (1, True): "1 coefficient: a place, not a track",
    (2, True): "2 coefficients: nearly a straight line",
    (1, False): "1 coefficient: a level, not a curve",
    (2, False): "2 coefficients: nearly a straight line",
}


def detail_in_words(n_coefficients: int, is_plane: bool) -> str:
    """What so many coefficients of each output can show."""
    default = f"{n_coefficients} coefficients" + " of each coordinate" * is_plane
    return _SHAPES.get((n_coefficients, is_plane), default)


def dress(ax: Any, axis: str = "y") -> None:
    """A quiet frame."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis=axis, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def band(ax: Any, x: Any, y: Any, width: float, colour: str, label: str) -> Any:
    """A band along the curve."""
    style = {"color": colour, "alpha": 0.15, "linewidth": 0, "zorder": 1.5}
    return ax.fill_between(x, y - width, y + width, label=label, **style)


def scale_bar(ax: Any, length: float, label: str) -> Any:
    """A bar below all that is drawn: a size and no place; moved if there is one.

    It keeps away from the data, where it could be read as saying where they are.
    """
    is_bar = [line for line in ax.lines if line.get_label() == label]
    for line in is_bar:
        line.remove()
    ax.relim()
    box = ax.dataLim
    below = box.y0 - _BAR_GAP * max(box.width, box.height, length)
    middle = (box.x0 + box.x1) / 2
    ends = (middle - length / 2, middle + length / 2)
    style = {"color": "0.35", "linewidth": 1.5, "marker": "|", "markersize": 9}
    (bar,) = ax.plot(ends, (below, below), label=label, zorder=1.5, **style)
    return bar


def shares_both_axes(ax: Any) -> bool:
    """Whether the limits of both axes are those of other panels, too."""
    groups = ax.get_shared_x_axes(), ax.get_shared_y_axes()
    return all(len(group.get_siblings(ax)) > 1 for group in groups)


def write_above(
    ax: Any, guarantee: Any, note: Any = None, *, legend: bool = True
) -> None:
    """The guarantee and the legend, as wide as the axes and above the curve."""
    lines = _write_guarantee(ax, guarantee)
    if not legend:
        return
    n_lines = _write_legend(ax, note, loc="upper left")
    # Head room, so that the legend hides no curve.
    height = ax.get_window_extent().height / ax.figure.dpi
    height -= _LINE_INCHES * max(0, lines - 1)  # what a layout takes for the title
    share = min(0.6, _LINE_INCHES * (n_lines + 1.5) / max(height, 1))
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share))


def write_around(
    ax: Any, guarantee: Any, note: Any = None, *, legend: bool = True
) -> None:
    """The guarantee above, the legend below: a map cannot make room for it."""
    from matplotlib.transforms import ScaledTranslation

    _write_guarantee(ax, guarantee)
    if not legend:
        return
    down = ScaledTranslation(0, -_BELOW_INCHES, ax.figure.dpi_scale_trans)
    place = {"bbox_to_anchor": (0, 0), "bbox_transform": ax.transAxes + down}
    _write_legend(ax, note, loc="upper left", borderaxespad=0, **place)


def _write_guarantee(ax: Any, guarantee: Any) -> int:
    """Write it above the axes; the number of its lines."""
    if guarantee is None:
        return 0
    width, size = letters(ax), "small"
    text = textwrap.fill(str(guarantee), width=width)
    if text.count("\n") + 1 >= _MANY_LINES:  # a small panel
        size = "x-small"
        text = textwrap.fill(str(guarantee), width=int(_SMALLER * width))
    ax.set_title(text, fontsize=size, color="0.35", loc="left")
    return text.count("\n") + 1


def _write_legend(ax: Any, note: Any, **place: Any) -> float:
    """A legend as wide as the axes, a note in small print; the number of its lines."""
    from matplotlib.lines import Line2D

    width = letters(ax)
    # The release comes first, whatever the order in which the layers were drawn.
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(
        range(len(labels)),
        key=lambda i: (
            not labels[i].startswith("released"),
            labels[i] in ("reference", "public bounds"),
        ),
    )
    texts = [textwrap.fill(labels[i], width=width - HANDLE) for i in order]
    lengths = sorted(max(map(len, text.splitlines())) for text in texts)
    n_columns = 2 if sum(lengths[-2:]) + 2 * HANDLE <= width else 1
    shown = [handles[i] for i in order]
    if note is not None:
        if not shown:  # words alone begin where the axes do, and are as wide
            place |= {"handlelength": 0, "handletextpad": 0, "borderpad": 0}
            width = int(_SMALLER * width)
        shown.append(Line2D([], [], linestyle="none"))
        texts.append(textwrap.fill(str(note), width=width))
        n_columns = 1
    legend = ax.legend(
        shown,
        texts,
        ncols=n_columns,
        fontsize="small",
        frameon=False,
        **place,
    )
    if note is not None:
        legend.get_texts()[-1].set(fontsize="x-small", color="0.35")
    return sum(text.count("\n") + 1 for text in texts) / n_columns


def letters(host: Any) -> int:
    """How many small letters are as wide as the axes, or the figure."""
    inches = host.get_window_extent().width / host.figure.dpi
    return max(20, int(_LETTERS_PER_INCH * inches))


def literal(text: str) -> str:
    """A name as it is written: between dollars matplotlib would read mathematics."""
    return text.replace("$", r"\$")


def check_fitted(estimator: Any) -> None:
    """Refuse to draw what was not released."""
    if not hasattr(estimator, "guarantee_"):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' "
            "before it is drawn."
        )
