"""The pictures of the command ``trace``."""

import re
from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import GeoPrivateCurve

from .cli_traces import (
    HIDE,
    PLACE,
    PUBLIC,
    SECONDS,
    START,
    WALK,
    N,
    curves_of,
    write_degrees,
    write_plain,
)
from .test_cli import read_csv, refuse, run


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def figures(monkeypatch):
    from matplotlib.figure import Figure

    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: found.append(self))
    return found


def lines_of(figure):
    return [line.get_xydata() for line in figure.axes[0].lines]


def test_picture_holds_the_release_alone(capsys, figures):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--plot", "p.png"]
    code, _, err = run(capsys, *words)
    released = read_csv("private_trace.csv")[1][:, 1:].astype(float)
    lines = lines_of(figures[0])
    assert (code, err) == (0, "")
    *lines, bar = lines  # the trace, its start and its end; the scale bar
    for line, points in zip(
        lines, (released[:1], released[-1:], released), strict=True
    ):
        np.testing.assert_array_equal(line, points)
    assert (bar[:, 1] < released[:, 1].min()).all()
    texts = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    assert not any("true" in text for text in texts)
    assert any(re.search("size of the noise, [0-9.]+ m before", text) for text in texts)


def test_true_trace_is_drawn_on_request_with_a_warning(capsys, figures):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--compare"]
    assert "add --plot" in refuse(capsys, *words)
    code, out, err = run(capsys, *words, "--plot", "p.png")
    assert code == 0
    assert err == (
        "warning: p.png shows the true trace (--compare): never publish it\n"
    )
    assert "Wrote p.png, with the true trace" in out
    assert any(len(x) == N and np.allclose(x, WALK) for x in lines_of(figures[0]))
    texts = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    assert "true (do not publish)" in texts


def test_large_areas_are_drawn_in_kilometres(capsys, figures):
    write_degrees()
    words = ["trace", "walk.csv", "--area", "1e5", "--domain", "0", "600"]
    run(capsys, *words, *PLACE, *START, *HIDE, "--plot", "p.png")
    assert figures[0].axes[0].get_xlabel() == "east of the origin (km)"


def test_picture_files_differ_by_the_release_only(capsys, monkeypatch):
    [curve] = (
        GeoPrivateCurve(
            epsilon=0.01, bounds=(-1000, 1000), domain=(0, 600), random_state=0
        )
        .fit(curves_of())
        .release(curves_of())
    )
    monkeypatch.setattr(GeoPrivateCurve, "release", lambda *_, **__: [curve])
    written = []
    for xy in (WALK, -2 * WALK[: N // 2]):
        write_plain(xy=xy, seconds=SECONDS[: len(xy)])
        words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--plot", "p.png", "--force"]
        assert run(capsys, *words)[0] == 0
        files = (Path("p.png"), Path("private_trace.csv"))
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1]
    assert written[0][0].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (["--hide", "20.07", "--odds", "3"], "hidden within 20 m at odds 3"),
        (["--hide", "20", "--odds", "3.001"], "hidden within 20 m at odds 3.01"),
        (
            [*HIDE, "--delta", "1e-5"],
            "within 20 m at odds 3, but for a chance of 1e-05",
        ),
        (["--epsilon", "0.012341"], "epsilon = 0.0124 per unit of L2 distance"),
        (["--rho", "1.0001e-4"], "rho = 0.000101 per squared unit of L2 distance"),
        ([*HIDE, "--seed", "1"], "at odds 3 - SEEDED: no privacy"),
    ],
)
def test_title_is_short_and_never_better_than_what_holds(capsys, figures, words, title):
    write_plain()
    out = run(capsys, "trace", "walk.csv", *PUBLIC, *words, "--plot", "p.png")[1]
    ax = figures[0].axes[0]
    assert title in ax.get_title(loc="left")
    note = ax.get_legend().get_texts()[-1].get_text().replace("\n", " ")
    assert f"guarantee  {note}\n" in out


def test_few_coefficients_are_said_in_the_picture(capsys, figures):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--hide", "40", "--odds", "3"]
    run(capsys, *words, "--plot", "p.png")
    texts = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    text = " ".join(texts).replace("\n", " ")
    assert "(2 coefficients: nearly a straight line); not a confidence region" in text
