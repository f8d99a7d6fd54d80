"""Every law, one after the other."""

import pytest

from tests.noise.laws import LAWS, law_name


@pytest.fixture(params=LAWS, ids=law_name)
def law(request):
    return request.param
