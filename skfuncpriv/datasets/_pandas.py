"""Pandas, which is not installed with the package."""

from __future__ import annotations

from typing import Any


def pandas() -> Any:
    """Import pandas, or say how to install it."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from None
    return pd
