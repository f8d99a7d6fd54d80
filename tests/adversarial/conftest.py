"""Hypothesis for this folder: the same examples in every run, and no folder left."""

import tempfile
import warnings

import pytest
from hypothesis import HealthCheck, Phase, configuration, settings
from hypothesis.internal.conjecture import providers

from skfuncpriv.exceptions import LargeDeltaWarning, NoiseDominatesWarning

_HOME = tempfile.TemporaryDirectory(prefix="hypothesis-")  # removed at exit
configuration.set_hypothesis_home_dir(_HOME.name)
if hasattr(providers, "_get_local_constants"):  # examples would follow what is imported
    providers._get_local_constants = lambda: providers._local_constants

settings.register_profile(
    "skfuncpriv",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=15,
    phases=[Phase.explicit, Phase.generate],  # to shrink takes minutes
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("skfuncpriv")


@pytest.fixture(autouse=True)
def _advice():
    """Advice from public facts alone is no error here: other tests check its text."""
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    warnings.simplefilter("ignore", LargeDeltaWarning)
