"""The audit: true bounds, sharp ones, and every planted leak found."""

import math

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.privacy import analytic_gaussian_sigma, audit
from skfuncpriv.privacy._audit import _count, _lower_limit, _upper_limit

TRIALS = 200_000


def laplace(scale, seed=0):
    """Scalar Laplace mechanism of sensitivity 1 on the neighbours 0 and 1."""
    source = np.random.default_rng(seed)
    return lambda data, size: data + scale * source.laplace(size=size)


def test_sharp_on_laplace():
    result = audit(laplace(1.0), 0, 1, n_trials=TRIALS, batch=True)
    assert 0.9 < result.epsilon_lower <= 1.0


@pytest.mark.parametrize("seed", range(5))
def test_a_scale_wrong_by_root_two_is_found(seed):
    wrong = laplace(1 / math.sqrt(2), seed)
    result = audit(wrong, 0, 1, n_trials=TRIALS, batch=True)
    assert 1.0 < result.epsilon_lower <= math.sqrt(2)


def test_the_bound_is_true_as_often_as_stated():
    """At confidence 0.5 the bound fails in at most half of the audits."""
    n_audits = 400
    failures = sum(
        audit(
            laplace(1.0, seed), 0, 1, n_trials=1000, batch=True, confidence=0.5
        ).epsilon_lower
        > 1.0
        for seed in range(n_audits)
    )
    assert 0 < failures <= 0.5 * n_audits + 5 * math.sqrt(n_audits) / 2


def test_delta_is_allowed_for():
    sigma = analytic_gaussian_sigma(1.0, 0.01)
    source = np.random.default_rng(0)

    def gaussian(data, size):
        return data + sigma * source.standard_normal(size)

    result = audit(gaussian, 0, 1, n_trials=TRIALS, delta=0.01, batch=True)
    assert 0.8 < result.epsilon_lower <= 1.0
    without = audit(gaussian, 0, 1, n_trials=TRIALS, batch=True)
    assert without.epsilon_lower > 1.0


def test_the_likelihood_ratio_is_sharp_where_one_coordinate_is_not():
    """Four coordinates, epsilon 0.25 each, together 1."""
    source = np.random.default_rng(0)

    def vector(data, size):
        return data + source.laplace(scale=4.0, size=(size, 4))

    def log_ratio(outputs):
        return (np.abs(outputs) - np.abs(outputs - 1)).sum(axis=1) / 4

    def first(outputs):
        return outputs[:, 0]

    sharp = audit(vector, 0, 1, n_trials=TRIALS, statistic=log_ratio, batch=True)
    blunt = audit(vector, 0, 1, n_trials=TRIALS, statistic=first, batch=True)
    assert blunt.epsilon_lower <= 0.25
    assert 0.8 < sharp.epsilon_lower <= 1.0


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0)])
@pytest.mark.parametrize(("sign", "side"), [(1, ">="), (-1, "<=")])
def test_both_directions_and_both_sides_are_looked_at(a, b, sign, side):
    """With probability 1/10 the data 1 are shown; 0 never shows anything."""
    source = np.random.default_rng(0)

    def leaky(data, size):
        return sign * data * (source.uniform(size=size) < 0.1)

    result = audit(leaky, a, b, n_trials=20_000, batch=True)
    # An upper limit of 0 in 10000 at error 0.001/4 is -log(0.00025)/10000.
    expected = math.log(0.1 / (-math.log(0.00025) / 10_000))
    assert expected - 0.3 < result.epsilon_lower < expected
    direction = "b over a" if b else "a over b"
    assert result.event == f"{direction}, statistic {side} {sign}"


def test_ties_count_on_both_sides():
    values = np.array([0.0, 2.0, 1.0, 1.0])
    assert _count(values, ">=", np.array([0.0, 1.0, 1.5])).tolist() == [4, 3, 1]
    assert _count(values, "<=", np.array([0.0, 1.0, 1.5])).tolist() == [1, 3, 3]


def test_sharp_on_randomised_response():
    """Randomised response with epsilon = log 3 on 0 and 1."""
    source = np.random.default_rng(0)

    def respond(data, size):
        return np.where(source.uniform(size=size) < 0.75, data, 1 - data)

    result = audit(respond, 0, 1, n_trials=TRIALS, batch=True)
    assert 0.95 * math.log(3) < result.epsilon_lower <= math.log(3)


def test_the_half_that_chooses_the_event_does_not_bound_it():
    """The neighbours differ in the first half of the trials only."""

    def drifting(data, size):
        return np.where(np.arange(size) < size // 2, data, 0)

    result = audit(drifting, 0, 1, n_trials=2000, batch=True)
    assert result.epsilon_lower == 0.0


def test_one_output_at_a_time_meets_the_batch():
    source = np.random.default_rng(3)
    draws = {data: data + source.laplace(size=2000) for data in (0, 1)}
    streams = {data: iter(values) for data, values in draws.items()}
    single = audit(lambda data: next(streams[data]), 0, 1, n_trials=2000)
    batch = audit(lambda data, size: draws[data], 0, 1, n_trials=2000, batch=True)
    assert single == batch


def test_limits_are_clopper_pearson():
    counts = np.array([0, 1, 7, 50, 99, 100])
    lower, upper = _lower_limit(counts, 100, 0.01), _upper_limit(counts, 100, 0.01)
    for count, low, high in zip(counts, lower, upper, strict=True):
        interval = stats.binomtest(int(count), 100).proportion_ci(0.98, "exact")
        assert low == pytest.approx(interval.low, rel=1e-9, abs=1e-300)
        assert high == pytest.approx(interval.high, rel=1e-9)


def test_text():
    result = audit(lambda data: data, 0, 1, n_trials=2000)
    text = str(result)
    assert text.startswith(f"epsilon >= {result.epsilon_lower:.4g} at delta = 0")
    assert "confidence 0.999 (2000 trials per neighbour" in text


def test_progress_goes_to_stderr_only_on_request(capsys):
    audit(lambda data: data, 0, 1, n_trials=10)
    assert capsys.readouterr() == ("", "")
    audit(lambda data: data, 0, 1, n_trials=10, progress=True)
    assert "audit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"n_trials": 1}, "n_trials must be an integer >= 2"),
        ({"confidence": 1.0}, "confidence must be a number in"),
        ({"delta": 1.0}, "delta must be a number in"),
        ({"statistic": lambda output: np.nan}, "got NaN"),
        ({"statistic": lambda output: [1, 2]}, "statistic= must make it one"),
        ({"batch": True, "statistic": lambda output: [1]}, "one number per trial"),
    ],
)
def test_bad_parameters_are_refused(fields, text):
    with pytest.raises(ValueError, match=text):
        audit(lambda data, *size: data, 0, 1, **{"n_trials": 10, **fields})
