"""Bars of progress: at once where they are asked for, else for who waits and looks."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm

PATIENCE = 2.0  # seconds


def progress_bar(verbose: bool | None = False, **words: Any) -> Any:
    """Make a bar of tqdm.

    Parameters
    ----------
    verbose : bool or None, default=False
        True shows it from the start. False shows it after two seconds, in a notebook or
        on a terminal, so that nobody waits without knowing for what; the environment
        variable ``TQDM_DISABLE=1`` of tqdm switches that off, too. None never shows it:
        there is a bar around this one.
    **words
        What tqdm takes: its texts and totals must be public.

    Returns
    -------
    tqdm
        The bar.
    """
    if verbose:
        return tqdm(**words)
    is_hidden = verbose is None or not is_watched()
    return tqdm(delay=PATIENCE, disable=is_hidden, leave=False, **words)


def is_watched() -> bool:
    """Whether somebody may look at what is printed: a terminal or a notebook."""
    is_terminal = getattr(sys.stderr, "isatty", bool)
    try:
        return "ipykernel" in sys.modules or bool(is_terminal())
    except (OSError, ValueError):  # a closed output
        return False
