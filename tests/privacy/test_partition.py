"""Disjoint groups of people: the dearest release is the cost of all of them."""

import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import PrivacyGuarantee, parallel


def pure(epsilon, **rest):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon, **rest)


def approx(epsilon, delta, **rest):
    return PrivacyGuarantee(
        definition="approx-dp", epsilon=epsilon, delta=delta, **rest
    )


def zcdp(rho, **rest):
    return PrivacyGuarantee(definition="zcdp", rho=rho, **rest)


def geo(epsilon, **rest):
    return PrivacyGuarantee(definition="geo", epsilon=epsilon, metric="L2", **rest)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([pure(0.5)], pure(0.5)),
        ([pure(0.5), pure(0.8), pure(0.1)], pure(0.8)),
        ([approx(0.5, 1e-6), approx(0.2, 1e-5)], approx(0.5, 1e-5)),
        ([pure(0.9), approx(0.2, 1e-6)], approx(0.9, 1e-6)),
        ([zcdp(0.1), pure(0.2)], zcdp(0.1)),
        ([zcdp(0.1), pure(0.5)], zcdp(0.125)),
        ([geo(0.1), geo(0.3)], geo(0.3)),
        (
            [geo(0.1, distance_error=1e-9), geo(0.3, distance_error=1e-10)],
            geo(0.3, distance_error=1e-9),
        ),
        ([pure(0.5), pure(0.1, seeded=True)], pure(0.5, seeded=True)),
    ],
)
def test_the_largest_covers_every_group(parts, expected):
    assert parallel(*parts) == expected
    assert parallel(*reversed(parts)) == expected


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([pure(0.5, neighbours="add-remove")], "neighbours='add-remove'"),
        ([pure(0.5, neighbours="replace-one or two")], "add the guarantees"),
        ([pure(0.5), pure(0.5, unit="person")], "different unit"),
        ([zcdp(0.5), approx(0.5, 1e-6)], "do not compose"),
        ([pure(0.5), geo(0.5)], "do not compose"),
    ],
)
def test_refused(parts, text):
    with pytest.raises(PrivacyError, match=text):
        parallel(*parts)


def test_only_guarantees_compose():
    with pytest.raises(ValueError, match="at least one"):
        parallel()
    with pytest.raises(TypeError, match="must be PrivacyGuarantee"):
        parallel(pure(0.1), 0.2)


def test_neighbours_within_a_distance_stay_in_their_group():
    near = geo(0.1).to_approx_dp(1e-6, radius=3.0)
    assert parallel(near, near) == near
