"""Which files a command may read and write, checked before any budget is charged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import _report as report
from ._arguments import PROG
from ._errors import CommandError


def check_ledger(address: str, budget: str) -> str:
    """The file of a ledger, refused if it does not exist; `budget` would create it.

    The address of a scope is that of the file, ``::`` and the name of the scope.
    """
    path = address.rpartition("::")[0] or address
    if not Path(path).is_file():
        raise CommandError(
            f"there is no ledger {path!r}; create it with: {PROG} ledger create {path} "
            f"{budget}"
        )
    return path


def check_outputs(
    outputs: Mapping[str, str | None],
    taken: Mapping[str, str],
    endings: Mapping[str, tuple[str, ...]],
    *,
    force: bool,
) -> None:
    """Refuse names that would clash, exist or be unwritable, and pictures in vain."""
    owners = {Path(path).resolve(): owner for path, owner in taken.items()}
    for option, path in outputs.items():
        if path is None:
            continue
        report.check_writable(path, option)
        other = owners.setdefault(Path(path).resolve(), option)
        if other != option:
            raise CommandError(f"{option}: {path!r} is {other} already")
        ending = endings.get(option, ("",))
        if not path.lower().endswith(ending):
            raise CommandError(f"{option}: {path!r} must end in {' or '.join(ending)}")
        if Path(path).exists() and not force:
            raise CommandError(
                f"{option}: {path!r} exists and is kept, a release is paid for: choose "
                "another name, or replace it with --force"
            )
    if outputs.get("--plot") and not report.has_matplotlib():
        raise CommandError("--plot needs matplotlib: pip install 'skfuncpriv[plot]'")
