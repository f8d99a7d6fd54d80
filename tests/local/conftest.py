"""Tests of the law use budgets at which noise dominates; the warning has its own."""

import os
from pathlib import Path

import pytest

_HERE = f"{Path(__file__).parent}{os.sep}"
_IGNORED = "ignore::skfuncpriv.exceptions.NoiseDominatesWarning"


def pytest_collection_modifyitems(items):
    for item in items:
        if str(item.path).startswith(_HERE):
            item.add_marker(pytest.mark.filterwarnings(_IGNORED))
