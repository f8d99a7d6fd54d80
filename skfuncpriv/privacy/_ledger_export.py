"""The history of a ledger as a file that anyone may read: public facts only."""

from __future__ import annotations

import csv
import io
import json
from os import PathLike
from pathlib import Path
from typing import Any

from ._ledger_file import Contents, LedgerRecord

_COLUMNS = ("day", "label", "scope", "times")
_GUARANTEE = (
    "definition",
    "epsilon",
    "delta",
    "rho",
    "neighbours",
    "unit",
    "metric",
    "distance_error",
    "seeded",
)


def write_history(
    path: str | PathLike[str], contents: Contents, records: list[LedgerRecord]
) -> None:
    """Write a new file, as CSV or JSON by its ending."""
    writers = {".csv": _as_csv, ".json": _as_json}
    file = Path(path)
    if file.suffix.lower() not in writers:
        raise ValueError(f"path must end in .csv or .json, got {str(path)!r}")
    text = writers[file.suffix.lower()](contents, records)
    with file.open("x", encoding="utf-8", newline="") as out:
        out.write(text)


def _as_csv(contents: Contents, records: list[LedgerRecord]) -> str:  # noqa: ARG001
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS + _GUARANTEE, lineterminator="\n")
    writer.writeheader()
    for record in records:
        fields = _fields(record)
        guarantee = fields.pop("guarantee")
        writer.writerow({**fields, **guarantee})
    return out.getvalue()


def _as_json(contents: Contents, records: list[LedgerRecord]) -> str:
    state = contents.state
    document = {
        "ledger": contents.mark.ledger,
        "name": contents.name,
        "budget": state.budget.to_dict(),
        "spent": state.spent("").to_dict(),
        "scopes": {
            name: {
                "cap": None if account.cap is None else account.cap.to_dict(),
                "people": account.people,
                "spent": state.spent(name).to_dict(),
            }
            for name, account in state.scopes.items()
        },
        "history": [_fields(record) for record in records],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _fields(record: LedgerRecord) -> dict[str, Any]:
    return {
        "day": record.day.isoformat(),
        "label": record.label,
        "scope": record.scope,
        "times": record.times,
        "guarantee": record.guarantee.to_dict(),
    }
