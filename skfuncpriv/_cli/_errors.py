"""Which errors are shown, and which could quote private data.

The texts that skfuncpriv raises are constant or hold public facts. A text that NumPy,
pandas or Python raise may quote a cell of the file ("could not convert string to
float: '7.3 mg'"), so only its kind and its place are shown.
"""

from __future__ import annotations

import dis
import errno
import os
import re
import sys
from pathlib import Path
from types import TracebackType

USER_ERROR, INTERNAL_ERROR = 2, 1
_CLOSED_PIPE = 128 + 13  # as a shell reports a tool that SIGPIPE ended

_RAISE = dis.opmap["RAISE_VARARGS"]
_KEYWORD = re.compile(r"\b(missing|duplicates|mechanism|grid)='([\w-]+)'")


class CommandError(ValueError):
    """A request that cannot be served; the text is public and says what to do."""


def explain(error: Exception) -> tuple[str, int]:
    """What to print about an error, and the exit code.

    Whoever read the output may be gone, as ``head`` is after ten lines: there is nobody
    to explain it to, and the command ends as other tools do.
    """
    if isinstance(error, BrokenPipeError):
        # What is left in the buffer must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_CLOSED_PIPE)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "error: no space left for the output", USER_ERROR
    if isinstance(error, OSError) and error.filename is not None:
        reason = error.strerror or type(error).__name__
        return f"error: {str(error.filename)!r}: {reason}", USER_ERROR
    module, line, is_raised = _origin(error.__traceback__)
    is_ours = is_raised and module.split(".")[0] == "skfuncpriv"
    if is_ours and isinstance(error, ValueError | TypeError | ImportError):
        return "error: " + _KEYWORD.sub(r"--\1 \2", str(error)), USER_ERROR
    return (
        f"internal error: {type(error).__name__} in {module}, line {line}; the text is "
        "not shown because it could quote private data. Please report this line."
    ), INTERNAL_ERROR


def notice_closed_pipes() -> None:
    """Write each line at once, so that a closed pipe is an error of the command.

    What waits in the buffer fails when Python ends, where nobody can handle it.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)


def _origin(traceback: TracebackType | None) -> tuple[str, int, bool]:
    """Module and line an error comes from, and whether a raise statement made it."""
    if traceback is None:
        return "an unknown place", 0, False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    module = frame.f_globals.get("__name__", Path(frame.f_code.co_filename).name)
    is_raised = frame.f_code.co_code[traceback.tb_lasti] == _RAISE
    return module, traceback.tb_lineno, is_raised
