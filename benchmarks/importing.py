"""The time of ``import skfuncpriv`` beside that of scikit-learn, which it needs."""

from __future__ import annotations

import subprocess
import sys


class Import:
    """In a new interpreter each time."""

    params = ("sklearn.base", "skfuncpriv")
    param_names = ("module",)
    number = 1
    warmup_time = 0

    def time_import(self, module):
        """Seconds, the start of the interpreter included."""
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
