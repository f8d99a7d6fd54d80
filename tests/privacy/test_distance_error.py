"""What floats add to a distance: `distance_error` of a guarantee, and in a ledger."""

import math
from fractions import Fraction

import pytest

from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee


def geo(epsilon, error=0.0, **rest):
    return PrivacyGuarantee(
        definition="geo", epsilon=epsilon, metric="L2", distance_error=error, **rest
    )


def cgp(rho, error=0.0, **rest):
    return PrivacyGuarantee(
        definition="concentrated-geo", rho=rho, metric="L2", distance_error=error,
        **rest,
    )  # fmt: skip


def test_the_larger_error_covers_a_sum():
    """e1 (d + s1) + e2 (d + s2) <= (e1 + e2) (d + max s)."""
    assert geo(0.1, 1e-9) + geo(0.2, 3e-9) == geo(0.3, 3e-9)
    assert geo(0.2, 3e-9) + geo(0.1, 1e-9) == geo(0.3, 3e-9)
    assert geo(0.1) + geo(0.2, 3e-9) == geo(0.3, 3e-9)
    assert cgp(0.1, 5.0) + cgp(0.2) == cgp(0.3, 5.0)
    assert cgp(0.1, 1e-9) + geo(0.2, 2e-9) == cgp(0.12, 2e-9)
    assert (geo(0.1, 1e-9, seeded=True) + geo(0.2, 2e-9)).seeded
    assert (geo(0.1, 3e-9, seeded=True) + geo(0.2, 2e-9)).seeded


@pytest.mark.parametrize("error", [0.0, 1e-9, 0.1, 1 / 3])
def test_conversion_covers_radius_and_error(error):
    exact = Fraction("0.3") * (Fraction("2.5") + Fraction(repr(error)))
    found = geo(0.3, error).to_approx_dp(1e-6, radius=2.5)
    assert Fraction(repr(found.epsilon)) >= exact
    assert found.epsilon == pytest.approx(float(exact), rel=1e-15)
    assert found.distance_error == 0.0
    square = (Fraction("2.5") + Fraction(repr(error))) ** 2 * Fraction("0.3")
    direct = PrivacyGuarantee(definition="zcdp", rho=float(square)).to_approx_dp(1e-6)
    concentrated = cgp(0.3, error).to_approx_dp(1e-6, radius=2.5)
    assert concentrated.epsilon == pytest.approx(direct.epsilon, rel=1e-12)
    if error:
        plain = cgp(0.3).to_approx_dp(1e-6, radius=2.5)
        assert concentrated.epsilon > plain.epsilon


def test_texts_state_it():
    text = str(geo(0.1, 2.5e-9))
    assert "epsilon = 0.1 per unit of (L2 distance + 2.5e-09) per row" in text
    text = str(cgp(0.1, 3.0))
    assert "rho = 0.1 per squared unit of (L2 distance + 3) per row" in text
    assert "unit of L2 distance per row" in str(geo(0.1))
    assert "2.5e-09" in geo(0.1, 2.5e-9)._repr_html_()


def test_dictionaries_hold_it():
    assert geo(0.1, 1e-9).to_dict()["distance_error"] == 1e-9
    assert PrivacyGuarantee.from_dict(geo(0.1, 1e-9).to_dict()) == geo(0.1, 1e-9)
    old = geo(0.1).to_dict()
    del old["distance_error"]  # written before there was such a field
    assert PrivacyGuarantee.from_dict(old) == geo(0.1)
    assert type(geo(0.1, 1).distance_error) is float


@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf, True, "0", None])
def test_bad_errors_are_refused(bad):
    with pytest.raises((ValueError, TypeError), match="distance_error must be"):
        geo(0.1, bad)


def test_without_a_metric_there_is_none():
    with pytest.raises(ValueError, match="0 without a metric"):
        PrivacyGuarantee(definition="pure-dp", epsilon=1.0, distance_error=1e-9)


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=1.0, metric="L2")


def test_a_ledger_remembers_the_largest(ledger):
    assert ledger.spent.distance_error == 0.0
    for error, largest in ((0.0, 0.0), (2e-9, 2e-9), (1e-9, 2e-9), (0.25, 0.25)):
        ledger.charge(geo(0.1, error))
        assert ledger.spent.distance_error == largest
        assert ledger.history()[-1].guarantee == geo(0.1, error)
    assert ledger.spent == geo(0.4, 0.25)
    assert BudgetLedger(ledger.path).spent == geo(0.4, 0.25)
    assert ledger.budget == geo(1.0)


def test_a_partition_has_the_largest_of_its_parts(ledger):
    parts = ledger.add_partition("region", ["north", "south"])
    for part, error in (("north", 0.25), ("south", 1e-9)):
        BudgetLedger(parts[part]).charge(geo(0.1, error))
    region = BudgetLedger(ledger.scope("region"))
    assert region.spent == ledger.spent == geo(0.1, 0.25)


def test_a_refused_charge_leaves_no_error(ledger):
    with pytest.raises(Exception, match="exceeds what is left"):
        ledger.charge(geo(2.0, 0.5))
    assert ledger.spent.distance_error == 0.0


def test_charges_many_times(ledger):
    ledger.charge(geo(0.1, 3e-9), times=4)
    assert ledger.spent == geo(0.4, 3e-9)
    assert ledger.remaining.epsilon == 0.6
