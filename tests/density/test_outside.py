"""Points outside the bounds count as if they lay on them; heights are of n people."""

import math

import numpy as np
import pytest

from skfuncpriv.density._coefficients import CoefficientPlan
from skfuncpriv.density._process import ProcessPlan

BOX = ((-2.0, 3.0), (0.0, 0.5))
BANDWIDTH = np.array([0.2, 0.3])


def plan_of(kind, n_people=4, boundary=("reflect", "periodic")):
    return kind(n_people, BOX, boundary, 1.0, 1e-6, bandwidth=BANDWIDTH)


@pytest.mark.parametrize("kind", [CoefficientPlan, ProcessPlan])
def test_far_points_are_moved_to_the_nearest_bound(kind):
    far = np.array([[-1e308, 0.1], [3.0001, 0.2], [0.7, 9.0], [1e9, -1e9]])
    near = np.array([[-2.0, 0.1], [3.0, 0.2], [0.7, 0.5], [3.0, 0.0]])
    plan = plan_of(kind)
    np.testing.assert_array_equal(plan.sum(far).values, plan.sum(near).values)
    owners = np.array([0, 0, 1, 3])
    np.testing.assert_array_equal(
        plan.sum(far, owners).values, plan.sum(near, owners).values
    )


@pytest.mark.parametrize("n_people", [1, 2, 1000])
def test_a_persons_kernel_has_a_mass_of_one_in_n(n_people):
    """The volume below a Gaussian bump of that height, in widths of the box."""
    plan = plan_of(ProcessPlan, n_people)
    volume = math.prod(math.sqrt(2 * math.pi) * h for h in BANDWIDTH)
    assert n_people * plan.height * volume == pytest.approx(1.0, rel=1e-12)
