"""Composed guarantees: never below the exact loss, hardly above, whatever the parts."""

import builtins
import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import PrivacyGuarantee, compose
from skfuncpriv.privacy import _composed_loss as composed_loss
from skfuncpriv.privacy import _optimal as optimal
from skfuncpriv.privacy._composed_loss import response_rho

METHODS = ["basic", "concentrated", "optimal", "dp-accounting", "auto"]


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


def outcomes(parts, mp):
    """Probabilities of all answers of the responses, under either input."""
    pairs = [(mp.mpf(1), mp.mpf(1))]
    for part in parts:
        p = 1 / (1 + mp.exp(-mp.mpf(repr(part.epsilon))))
        delta = mp.mpf(repr(part.delta))
        one = [((1 - delta) * p, (1 - delta) * (1 - p))]
        one += [(one[0][1], one[0][0])]
        if part.delta:
            one += [(delta, mp.mpf(0)), (mp.mpf(0), delta)]
        pairs = [(a * c, b * d) for a, b in pairs for c, d in one]
    return pairs


def exact_delta(pairs, epsilon, mp):
    factor = mp.exp(epsilon)
    return mp.fsum(max(p - factor * q, 0) for p, q in pairs)


def random_parts(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        return [pure(float(e)) for e in rng.uniform(0.01, 1.5, rng.integers(2, 13))]
    return [
        approx(float(e), float(d)) if d > 3e-6 else pure(float(e))
        for e, d in rng.uniform((0.01, 1e-9), (1.5, 1e-5), (rng.integers(2, 6), 2))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_met_from_above(seed):
    """Against all answers of all responses, with 50 digits."""
    mp = mpmath.MPContext()
    mp.dps = 50
    parts = random_parts(seed)
    delta = float(np.random.default_rng([seed, 1]).choice([1e-4, 1e-2, 0.1]))
    pairs = outcomes(parts, mp)
    for method in ("optimal", "auto"):
        claim = compose(*parts, delta=delta, method=method)
        assert claim.delta == delta
        bound = mp.mpf(repr(claim.epsilon))
        assert exact_delta(pairs, bound, mp) <= mp.mpf(repr(delta))
        assert exact_delta(pairs, bound * (1 - mp.mpf("1e-3")), mp) > delta


@pytest.mark.parametrize("method", ["basic", "concentrated", "dp-accounting"])
@pytest.mark.parametrize("seed", range(4))
def test_other_methods_are_upper_bounds(method, seed):
    mp = mpmath.MPContext()
    mp.dps = 50
    parts = random_parts(seed)
    bound = mp.mpf(compose(*parts, delta=1e-3, method=method).epsilon)
    assert exact_delta(outcomes(parts, mp), bound, mp) <= 1e-3


def test_a_coarse_lattice_is_an_upper_bound(monkeypatch):
    """Mixtures of neighbouring points tell more, however far apart these are."""
    mp = mpmath.MPContext()
    mp.dps = 50
    epsilons = [0.13, 0.51, 0.77, 1.31]
    pairs = outcomes([pure(epsilon) for epsilon in epsilons], mp)
    bounds = []
    for steps in (2, 3, 5, 11, 1000):
        monkeypatch.setattr(optimal, "_MOST_STEPS", steps)
        for delta in (1e-3, 0.05):
            exact = [(Fraction(repr(epsilon)), 1) for epsilon in epsilons]
            bound = optimal.optimal_epsilon(exact, Fraction(repr(delta)))
            bounds.append(float(bound))
            assert exact_delta(pairs, mp.mpf(float(bound)), mp) <= delta
    assert bounds[0] > bounds[-2] * 1.001  # it was coarse indeed


@pytest.mark.parametrize("i", [1, 2, 3, 4])
def test_equal_parts_meet_the_closed_form(i):
    """(k - 2i) epsilon at the delta of Kairouz, Oh and Viswanath, for k = 9."""
    k, epsilon = 9, 0.3
    delta = (
        math.fsum(
            math.comb(k, j)
            * (math.exp((k - j) * epsilon) - math.exp((k - 2 * i + j) * epsilon))
            for j in range(i)
        )
        / (1 + math.exp(epsilon)) ** k
    )
    found = compose(*[pure(epsilon)] * k, delta=delta, method="optimal").epsilon
    assert found == pytest.approx((k - 2 * i) * epsilon, rel=1e-9)


def test_another_package_agrees():
    parts = [pure(0.1)] * 60 + [approx(0.25, 1e-8)] * 20
    ours = compose(*parts, delta=1e-5, method="optimal").epsilon
    theirs = compose(*parts, delta=1e-5, method="dp-accounting").epsilon
    assert ours == pytest.approx(theirs, rel=1e-5)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


@pytest.fixture
def counted(monkeypatch):
    """The steps of the work, by name."""
    names = ("decimal_reading", "optimal_epsilon", "to_precise")
    steps = {name: Counted(getattr(composed_loss, name)) for name in names}
    for name, step in steps.items():
        monkeypatch.setattr(composed_loss, name, step)
    return steps


def responses_delta(number, epsilon, claim):
    """The delta of equal responses at a claim, by the tails of the binomial law."""
    p = 1 / (1 + math.exp(-epsilon))
    least = math.floor((number + claim / epsilon) / 2)  # of the losses +epsilon, less 1
    upper = stats.binom.sf(least, number, p)
    return upper - math.exp(claim) * stats.binom.sf(least, number, 1 - p)


@pytest.mark.parametrize("lost", [0.0, 1e-12])
def test_a_hundred_thousand_equal_parts_are_counted(counted, lost):
    number, delta = 100_000, 1e-6
    one = approx(1e-5, lost) if lost else pure(1e-5)
    claim = compose(*[one] * number, delta=delta).epsilon
    assert counted["optimal_epsilon"].calls == 0
    assert sum(step.calls for step in counted.values()) < 20
    slack = 1 - (1 - delta) / (1 - lost) ** number
    assert responses_delta(number, 1e-5, claim) < slack
    assert responses_delta(number, 1e-5, claim / 1.2) > slack
    assert claim < compose(*[one] * number, delta=delta, method="basic").epsilon / 50


def test_the_optimum_is_found_where_the_work_is_little(counted, monkeypatch):
    parts = [pure(0.01)] * 4000
    claim = compose(*parts, delta=1e-6)
    assert counted["optimal_epsilon"].calls == 1
    assert responses_delta(4000, 0.01, claim.epsilon) <= 1e-6
    assert responses_delta(4000, 0.01, claim.epsilon * (1 - 1e-4)) > 1e-6
    monkeypatch.setattr(optimal, "_QUICK_WORK", 10_000)
    beyond = compose(*parts, delta=1e-6)
    assert counted["optimal_epsilon"].calls == 1
    assert beyond == compose(*parts, delta=1e-6, method="concentrated")
    assert claim == compose(*parts, delta=1e-6, method="optimal")


def test_the_work_is_that_of_the_law(monkeypatch):
    """What is_quick counts are the numbers that are added, and the weights."""
    epsilons = [(Fraction(1, 10), 3), (Fraction(1, 7), 2), (Fraction(2, 3), 1)]
    step = optimal.lattice_step(epsilons)
    lengths, length = [], 1
    for epsilon, times in epsilons:
        for _ in range(times):
            length += 2 * int(epsilon / step)
            lengths.append(length)
    assert len(optimal._loss_law(epsilons, step)) == length
    work = sum(lengths) + 3 * optimal._WEIGHT_WORK
    monkeypatch.setattr(optimal, "_QUICK_WORK", work)
    assert optimal.is_quick(epsilons)
    monkeypatch.setattr(optimal, "_QUICK_WORK", work - 1)
    assert not optimal.is_quick(epsilons)


def test_the_largest_of_a_group_stands_for_it(counted, monkeypatch):
    parts = [pure(e) for e in (0.11, 0.12, 0.13, 0.14, 0.15)] + [pure(0.12)] * 2
    exact = compose(*parts, delta=1e-6, method="concentrated").epsilon
    assert counted["to_precise"].calls == 5 + 1  # the epsilons and rho
    monkeypatch.setattr(composed_loss, "_MOST_DIFFERENT", 2)
    merged = compose(*parts, delta=1e-6, method="concentrated").epsilon
    same = compose(
        *[pure(0.13)] * 5, *[pure(0.15)] * 2, delta=1e-6, method="concentrated"
    ).epsilon
    assert exact < merged == same
    assert counted["to_precise"].calls == 6 + 2 * (2 + 1)


def test_products_of_deltas_are_rounded_down():
    numbers = [(Decimal("0.999999999999"), 100_000), (Decimal("0.7"), 3)]
    exact = Fraction("0.7") ** 3 * Fraction(10**12 - 1, 10**12) ** 1000
    few = composed_loss._product_below([(numbers[0][0], 1000), numbers[1]])
    assert 0 < exact - few < Fraction(1, 10**790)
    assert composed_loss._product_below(numbers[1:]) == Fraction("0.343")


def test_many_different_parts():
    epsilons = np.random.default_rng(0).uniform(0.05, 0.1, 300)
    parts = [pure(float(epsilon)) for epsilon in epsilons]
    ours = compose(*parts, delta=1e-6).epsilon
    # Between the bounds for 300 responses at the mean square and at the largest.
    mean_square = float(np.sqrt(np.mean(epsilons**2)))
    low = compose(*[pure(mean_square)] * 300, delta=1e-6).epsilon
    assert low * 0.99 < ours < compose(*[pure(0.1)] * 300, delta=1e-6).epsilon
    assert ours < compose(*parts, delta=1e-6, method="concentrated").epsilon


def test_concentrated_parts_cover_the_gaussian():
    """A mechanism that has the promised rho, composed with responses numerically."""
    sigma = 4.0
    parts = [zcdp(1 / (2 * sigma**2)), pure(0.5), pure(0.5), approx(0.2, 1e-8)]
    claim = compose(*parts, delta=1e-5)
    law = pld.from_gaussian_mechanism(sigma)
    for part in parts[1:]:
        privacy = pld.common.DifferentialPrivacyParameters(part.epsilon, part.delta)
        law = law.compose(pld.from_privacy_parameters(privacy))
    assert law.get_delta_for_epsilon(claim.epsilon) <= 1e-5
    assert claim.epsilon < compose(*parts, delta=1e-5, method="basic").epsilon
    # zCDP loses something against the Gaussian itself, but not much
    assert claim.epsilon < 1.2 * law.get_epsilon_for_delta(1e-5)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 60.0])
def test_rho_of_a_response(epsilon):
    mp = mpmath.MPContext()
    mp.dps = 60
    rho = response_rho(Fraction(repr(epsilon)))
    assert rho <= Fraction(repr(epsilon)) ** 2 / 2
    p = 1 / (1 + mp.exp(-mp.mpf(repr(epsilon))))
    bound = mp.mpf(rho.numerator) / rho.denominator
    losses = []
    for order in ("1.0000001", "1.01", "1.5", "2", "3", "10", "1000", "1e6"):
        a = mp.mpf(order)
        moment = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
        losses.append(mp.log(moment) / ((a - 1) * a))
    assert max(losses) <= bound
    assert losses[0] > bound * (1 - mp.mpf("1e-4"))  # no smaller rho would do


def test_without_delta_the_guarantees_add():
    assert compose(pure(0.1), pure(0.2)) == pure(0.3)
    assert compose(pure(0.1), approx(0.2, 1e-6)) == approx(0.3, 1e-6)
    assert compose(zcdp(0.1), zcdp(0.2)) == zcdp(0.3)
    assert compose(geo(0.1), geo(0.2)) == geo(0.3)
    assert compose(zcdp(0.1), pure(0.2), method="basic") == zcdp(0.12)
    total = compose(zcdp(0.1), pure(2.0)).rho
    assert 0.1 + 2 * math.tanh(1) <= total <= 0.1 + 2 * math.tanh(1) + 1e-12
    assert compose(pure(2.0), zcdp(0.1)).rho == total


PARTS = [
    [pure(0.7)],
    [approx(0.7, 1e-6)],
    [zcdp(0.3, unit="person")],
    [geo(0.3)],
]


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: parts[0].definition)
def test_one_part_is_itself(parts):
    assert compose(*parts) == parts[0]


def test_one_part_at_a_delta():
    assert compose(approx(0.7, 1e-6), delta=1e-6) == approx(0.7, 1e-6)
    assert compose(zcdp(0.3), delta=1e-6) == zcdp(0.3).to_approx_dp(1e-6)
    found = compose(pure(0.7), delta=0.01).epsilon
    # p - e^found (1 - p) = delta
    p = 1 / (1 + math.exp(-0.7))
    assert found == pytest.approx(math.log((p - 0.01) / (1 - p)), rel=1e-12)


def test_the_order_of_parts_does_not_matter():
    parts = [pure(0.31), approx(0.2, 1e-7), pure(0.07), approx(0.2, 2e-7)]
    claims = {
        compose(*order, delta=1e-5) for order in (parts, parts[::-1], sorted_by(parts))
    }
    assert len(claims) == 1
    mixed = [pure(0.31), zcdp(0.2), pure(0.07)]
    assert compose(*mixed, delta=1e-5) == compose(*mixed[::-1], delta=1e-5)


def sorted_by(parts):
    return sorted(parts, key=lambda part: part.epsilon)


@pytest.mark.parametrize("method", ["basic", "concentrated", "optimal", "auto"])
def test_more_loss_costs_more(method):
    def claim(*parts, delta=1e-5):
        return compose(*parts, delta=delta, method=method).epsilon

    few = claim(pure(0.3), pure(0.4), approx(0.2, 1e-7))
    assert few < claim(pure(0.3), pure(0.41), approx(0.2, 1e-7))
    assert few < claim(pure(0.3), pure(0.4), approx(0.21, 1e-7))
    assert few <= claim(pure(0.3), pure(0.4), approx(0.2, 9e-6))
    assert few < claim(pure(0.3), pure(0.4), approx(0.2, 1e-7), pure(0.01))
    assert few >= claim(pure(0.3), pure(0.4), approx(0.2, 1e-7), delta=2e-5)


def test_more_rho_costs_more():
    few = compose(pure(0.3), zcdp(0.1), delta=1e-5).epsilon
    assert few < compose(pure(0.3), zcdp(0.11), delta=1e-5).epsilon
    assert few < compose(pure(0.31), zcdp(0.1), delta=1e-5).epsilon


def test_the_deltas_of_the_parts_are_paid_for():
    parts = [approx(0.5, 1e-6)] * 4
    with pytest.raises(PrivacyError, match="it must be at least 3"):
        compose(*parts, delta=3.9e-6)
    enough = 3.999994000005e-6  # 1 - (1 - 1e-6)^4, rounded up
    assert compose(*parts, delta=enough).epsilon == 2.0
    assert compose(*parts, delta=1e-3).epsilon < 2.0
    with pytest.raises(PrivacyError, match="need a delta above"):
        compose(zcdp(0.1), approx(0.5, 1e-6), delta=1e-6)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([pure(1), pure(1, unit="person")], "different unit"),
        ([pure(1), pure(1, neighbours="add-remove")], "different neighbours"),
        ([pure(1), geo(1)], "different metric"),
        ([geo(1), geo(1)], "only add"),
    ],
)
def test_refused(parts, text):
    with pytest.raises(PrivacyError, match=text):
        compose(*parts, delta=1e-6)


def test_refused_without_a_delta():
    with pytest.raises(PrivacyError, match="give delta="):
        compose(pure(1), zcdp(0.1), approx(1, 1e-6))
    with pytest.raises(ValueError, match="needs a delta"):
        compose(pure(1), method="optimal")


@pytest.mark.parametrize("method", ["optimal", "dp-accounting"])
def test_concentrated_parts_have_no_law(method):
    with pytest.raises(PrivacyError, match="no bound for these parts"):
        compose(pure(1), zcdp(0.1), delta=1e-6, method=method)


def test_arguments():
    with pytest.raises(ValueError, match="at least one"):
        compose()
    with pytest.raises(TypeError, match="must be PrivacyGuarantee"):
        compose(1.0)
    with pytest.raises(ValueError, match="method must be one of"):
        compose(pure(1), method="rdp")
    for delta in (0, 1, True, math.nan):
        with pytest.raises(ValueError, match="delta must be"):
            compose(pure(1), delta=delta)


def test_a_missing_package_says_so(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **rest):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return original(name, *args, **rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert compose(pure(1), pure(1), delta=1e-6).epsilon < 2.0
    with pytest.raises(ImportError, match="needs the package dp-accounting"):
        compose(pure(1), delta=1e-6, method="dp-accounting")


def test_seeded_stays():
    assert compose(pure(1), pure(1, seeded=True)).seeded
    assert compose(zcdp(1), pure(1, seeded=True)).seeded
    assert compose(pure(1), pure(1, seeded=True), delta=1e-6).seeded
    assert not compose(pure(1), pure(1), delta=1e-6).seeded


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 300.0, 1e6, 1e300])
@pytest.mark.parametrize("method", ["basic", "concentrated", "auto"])
def test_extreme_parts(epsilon, method):
    claim = compose(pure(epsilon), pure(epsilon), pure(0.5), delta=1e-6, method=method)
    largest = 2 * Fraction(repr(epsilon)) + Fraction(1, 2)
    assert 0.49 < claim.epsilon <= float(largest) * 1.1
    if epsilon >= 300:
        assert claim.epsilon > 2 * epsilon
