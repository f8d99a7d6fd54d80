"""Guarantees: validation, composition, conversion, text."""

import json
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import PrivacyGuarantee
from skfuncpriv.privacy._amount import Amount
from skfuncpriv.privacy._guarantee import guarantee_of


def pure(epsilon, **rest):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon, **rest)


def approx(epsilon, delta, **rest):
    return PrivacyGuarantee(
        definition="approx-dp", epsilon=epsilon, delta=delta, **rest
    )


def zcdp(rho, **rest):
    return PrivacyGuarantee(definition="zcdp", rho=rho, **rest)


def geo(epsilon, metric="L2", **rest):
    return PrivacyGuarantee(definition="geo", epsilon=epsilon, metric=metric, **rest)


def cgp(rho, metric="L2", **rest):
    return PrivacyGuarantee(
        definition="concentrated-geo", rho=rho, metric=metric, **rest
    )


ONE_OF_EACH = [pure(0.1), approx(0.1, 1e-6), zcdp(0.1), geo(0.1), cgp(0.1)]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"definition": "dp", "epsilon": 1}, "definition must be one of"),
        ({"definition": "pure-dp"}, "epsilon must be a finite number > 0"),
        ({"definition": "pure-dp", "epsilon": 0}, "epsilon must be a finite"),
        ({"definition": "pure-dp", "epsilon": True}, "epsilon must be a finite"),
        ({"definition": "pure-dp", "epsilon": float("nan")}, "epsilon must be a fin"),
        ({"definition": "pure-dp", "epsilon": 1, "delta": 0.1}, "delta must be 0"),
        ({"definition": "pure-dp", "epsilon": 1, "rho": 1}, "rho must be None"),
        ({"definition": "pure-dp", "epsilon": 1, "metric": "L2"}, "metric must be No"),
        ({"definition": "approx-dp", "epsilon": 1}, "delta must be in"),
        ({"definition": "approx-dp", "epsilon": 1, "delta": 1}, "delta must be a num"),
        ({"definition": "zcdp", "rho": 1, "epsilon": 1}, "epsilon must be None"),
        ({"definition": "zcdp", "epsilon": 1}, "epsilon must be None|rho must be"),
        ({"definition": "zcdp", "rho": -1}, "rho must be a finite number > 0"),
        ({"definition": "zcdp", "rho": 1, "delta": 0.1}, "delta must be 0"),
        ({"definition": "geo", "epsilon": 1}, "metric must be a name"),
        ({"definition": "geo", "epsilon": 1, "metric": ""}, "metric must be a name"),
        ({"definition": "pure-dp", "epsilon": 1, "unit": "user"}, "unit must be one"),
        ({"definition": "pure-dp", "epsilon": 1, "neighbours": "a\nb"}, "neighbours"),
        ({"definition": "pure-dp", "epsilon": 1, "seeded": 1}, "seeded must be True"),
    ],
)
def test_validation(fields, text):
    with pytest.raises(ValueError, match=text):
        PrivacyGuarantee(**fields)


def test_numbers_become_plain_floats():
    guarantee = approx(np.float64(0.1), np.float32(0.5))
    assert type(guarantee.epsilon) is float
    assert type(guarantee.delta) is float
    assert type(pure(1).epsilon) is float


def test_pure_sums_are_exact_in_decimal():
    assert (pure(0.1) + pure(0.2)) == pure(0.3)
    total = pure(0.1)
    for _ in range(29):
        total = total + pure(0.1)
    assert total == pure(3.0)


def test_a_sum_that_must_be_rounded_is_rounded_up():
    total = pure(0.1) + pure(1e-20)
    assert Fraction(repr(total.epsilon)) >= Fraction("0.1") + Fraction("1e-20")
    assert total.epsilon == np.nextafter(0.1, 1)


def test_composition_rules():
    assert approx(0.1, 1e-6) + approx(0.2, 2e-6) == approx(0.3, 3e-6)
    assert pure(0.1) + approx(0.2, 1e-6) == approx(0.3, 1e-6)
    assert zcdp(0.1) + zcdp(0.2) == zcdp(0.3)
    assert zcdp(0.1) + pure(0.2) == pure(0.2) + zcdp(0.1) == zcdp(0.12)
    assert geo(0.1) + geo(0.2) == geo(0.3)
    assert cgp(0.1) + cgp(0.2) == cgp(0.3)
    assert cgp(0.1) + geo(0.2) == cgp(0.12)


def test_zcdp_and_approx_do_not_compose():
    with pytest.raises(PrivacyError, match=r"to_approx_dp\(delta\)"):
        zcdp(0.1) + approx(0.1, 1e-6)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (pure(1), pure(1, unit="person"), "different unit"),
        (pure(1), pure(1, neighbours="add-remove"), "different neighbours"),
        (geo(1), geo(1, metric="sup"), "different metric"),
        (geo(1), pure(1), "radius="),
        (cgp(1), zcdp(1), "radius="),
    ],
)
def test_refused_compositions(first, second, text):
    with pytest.raises(PrivacyError, match=text):
        first + second
    with pytest.raises(PrivacyError, match=text):
        second + first


def test_a_sum_of_deltas_that_reaches_one_is_refused():
    with pytest.raises(PrivacyError, match="no guarantee is left"):
        approx(1, 0.5) + approx(1, 0.5)


def test_only_guarantees_are_added():
    with pytest.raises(TypeError):
        pure(1) + 1


def test_seeded_is_contagious():
    assert (pure(1, seeded=True) + pure(1)).seeded
    assert (pure(1) + pure(1, seeded=True)).seeded
    assert not (pure(1) + pure(1)).seeded
    assert pure(1, seeded=True).to_approx_dp(1e-6).seeded


def test_pure_and_approx_to_approx():
    assert pure(0.7, unit="person").to_approx_dp(1e-6) == approx(
        0.7, 1e-6, unit="person"
    )
    assert approx(0.7, 1e-7).to_approx_dp(1e-6) == approx(0.7, 1e-6)
    with pytest.raises(PrivacyError, match="larger than the"):
        approx(0.7, 1e-5).to_approx_dp(1e-6)


@pytest.mark.parametrize("delta", [0, 1, float("nan"), None])
def test_to_approx_needs_a_delta(delta):
    with pytest.raises(ValueError, match="delta must be"):
        pure(1).to_approx_dp(delta)


def test_geo_needs_a_radius():
    for guarantee in (geo(0.1), cgp(0.1)):
        with pytest.raises(PrivacyError, match="radius="):
            guarantee.to_approx_dp(1e-6)
    with pytest.raises(PrivacyError, match="radius belongs to the geo"):
        pure(1).to_approx_dp(1e-6, radius=1)


def test_geo_within_a_radius():
    converted = geo(0.1).to_approx_dp(1e-6, radius=3)
    assert converted.epsilon == 0.3
    assert converted.neighbours == "replace-one within L2 distance 3"
    assert converted.metric is None
    expected = zcdp(0.9).to_approx_dp(1e-6).epsilon
    assert cgp(0.1).to_approx_dp(1e-6, radius=3).epsilon == expected
    with pytest.raises(PrivacyError, match="different neighbours"):
        converted + approx(1, 1e-6)


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (
            pure(1, unit="person"),
            "pure DP: epsilon = 1 per person (neighbours: replace one person's data)",
        ),
        (
            approx(0.1, 1e-6),
            "approximate DP: epsilon = 0.1, delta = 1e-06 per row "
            "(neighbours: replace one row)",
        ),
        (
            zcdp(0.5, neighbours="add-remove", seeded=True),
            "zero-concentrated DP: rho = 0.5 per row (neighbours: add or remove one "
            "row) - SEEDED: no privacy, for tests and teaching only",
        ),
        (
            geo(2),
            "geo-privacy: epsilon = 2 per unit of L2 distance per row "
            "(neighbours: replace one row)",
        ),
        (
            cgp(2),
            "concentrated geo-privacy: rho = 2 per squared unit of L2 distance per row "
            "(neighbours: replace one row)",
        ),
    ],
)
def test_text(guarantee, text):
    assert str(guarantee) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (1e-6, "1e-06"),
        (2.0**-7, "0.0078125"),  # five digits
        (0.0007324081924454039, "0.00073241"),
        (0.30000000000000004, "0.30001"),
        (1.0000000000000002, "1.0001"),
        (123456.0, "123460"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),  # no float above
    ],
)
def test_text_has_few_digits_that_promise_no_more(number, text):
    assert f"epsilon = {text} per row" in str(pure(number))
    assert f"epsilon = {text} per row" in pure(number)._repr_html_()
    assert f"rho = {text} per row" in str(zcdp(number))
    assert f"epsilon = {text} per unit" in str(geo(number))


def test_printed_numbers_are_never_smaller():
    rng = np.random.default_rng(0)
    exponents = [*rng.uniform(-323, 308, 300), *np.linspace(-323.3, -318, 60)]
    for number in (10.0 ** float(exponent) for exponent in exponents):
        delta, error = min(number, 0.99999999), number
        words = str(geo(number, distance_error=error)) + str(approx(number, delta))
        shown = re.findall(r"(?:=|\+) ([^ ,)]+)", words)
        for text, exact in zip(shown, (number, error, number, delta), strict=True):
            assert Fraction(repr(exact)) <= Fraction(text)
            assert float(text) <= exact * (1 + 1e-4) + 1e-322


def test_a_radius_and_what_is_left_show_all_digits():
    # A larger number would promise, or allow, more than is true.
    radius = 1.2345678901234567
    within = geo(0.1).to_approx_dp(1e-6, radius=radius)
    assert f"within L2 distance {radius!r}" in str(within)
    left = guarantee_of(
        Amount(epsilon=Decimal("0.12345678")),
        "pure-dp",
        like=pure(1),
        seeded=False,
        round_down=True,
    )
    assert "epsilon = 0.12345678 per" in str(left)
    assert left == pure(0.12345678)
    assert "epsilon = 0.12346 per" in str(pure(0.12345678))


def test_a_sum_of_long_numbers_stays_exact():
    total = geo(0.0007324081924) + geo(0.0007324081924)
    assert total == geo(0.0014648163848)
    assert "epsilon = 0.0014649 per" in str(total)  # twice the printed is 0.00146482


def test_html_is_escaped():
    html = geo(1, metric="<script>alert('x')</script>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("guarantee", ONE_OF_EACH, ids=lambda g: g.definition)
def test_round_trips(guarantee):
    through_json = json.loads(json.dumps(guarantee.to_dict()))
    assert PrivacyGuarantee.from_dict(through_json) == guarantee
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee


def test_from_dict_checks():
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        PrivacyGuarantee.from_dict({"definition": "pure-dp", "epsilon": -1})


def test_frozen():
    with pytest.raises(AttributeError):
        pure(1).epsilon = 2


def test_sum_starts_at_zero():
    assert sum([pure(0.1), pure(0.2)]) == pure(0.3)
    for start in (1, False, 0.0, "0"):
        with pytest.raises(TypeError):
            start + pure(0.1)
