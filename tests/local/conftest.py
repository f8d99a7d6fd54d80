"""Tests of the law use budgets at which noise dominates; the warning has its own."""

from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_IGNORED = "ignore::skfuncpriv.exceptions.NoiseDominatesWarning"


def pytest_collection_modifyitems(items):
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(_IGNORED))
