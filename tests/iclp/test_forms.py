"""What a user may hand over by mistake is refused by name, before any charge."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import get_tags

from skfuncpriv import BudgetLedger, Curves, ICLPMean
from skfuncpriv.basis import BSplineBasis, CosineBasis

FRAME = pd.DataFrame([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
PEOPLE = pd.Series(["ann", "bob", "ann"])


def model(**parameters):
    return ICLPMean(bounds=(0, 1), epsilon=1e4, **parameters)


def test_groups_with_the_index_of_the_frame_are_read():
    shuffled = FRAME.sample(frac=1, random_state=1)
    groups = PEOPLE.loc[shuffled.index]
    assert model().fit(shuffled, groups=groups).n_people_ == 2


def test_groups_with_another_index_are_refused():
    with pytest.raises(ValueError, match="groups has another index than X"):
        model().fit(FRAME, groups=PEOPLE.iloc[::-1])


def test_groups_without_an_index_go_by_position():
    assert model().fit(FRAME, groups=PEOPLE.tolist()).n_people_ == 2
    assert model().fit(FRAME.to_numpy(), groups=PEOPLE.iloc[::-1]).n_people_ == 2


def test_name_of_a_column_is_no_group():
    with pytest.raises(ValueError, match=r"as in groups=frame\['person'\]"):
        model().fit(FRAME, groups="patient")


def test_irregular_curves_need_a_domain():
    curves = Curves([0.1, 0.5], times=[0.0, 30.0], offsets=[0, 1, 2])
    with pytest.raises(ValueError, match="domain must be stated for irregular curves"):
        model().fit(curves)
    assert model(domain=(0, 40)).fit(curves).grid_[-1] == 40.0


def test_curves_may_state_the_domain():
    curves = Curves([0.1, 0.5], [0.0, 30.0], [0, 1, 2], domain=(0, 40))
    assert model().fit(curves).basis_.domain == (0.0, 40.0)
    with pytest.raises(ValueError, match="another domain"):
        model(domain=(0, 30)).fit(curves)


def test_a_ledger_is_named_by_its_file(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=2e4)
    with pytest.raises(TypeError, match="pass its path attribute"):
        model(ledger=ledger).fit(FRAME)
    assert ledger.history() == []
    model(ledger=ledger.path).fit(FRAME)
    assert len(ledger.history()) == 1


def test_a_level_in_per_cent_is_refused():
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 95.0"):
        model().fit(FRAME).noise_band(95)


def test_expected_error_is_that_of_the_fit():
    planned = model().expected_error(3, n_points=3)
    fitted = model().fit(FRAME)
    unit = fitted.norm_bound_ / 3
    whole = unit**2 * fitted.law_.expected_square
    assert 0.9 * whole < planned < whole  # denoising is expected to do little here
    plain = model(denoise=False, psi=0.0)
    square = unit**2 * plain.fit(FRAME).law_.expected_square
    assert plain.expected_error(3, n_points=3) == pytest.approx(square, rel=1e-12)
    gridded = model(grid=[0.0, 0.5, 1.0])
    assert gridded.expected_error(3) == pytest.approx(planned, rel=1e-12)


def test_a_spline_basis_can_be_cut_by_the_absolute_penalty():
    basis = BSplineBasis(20)
    fitted = ICLPMean(
        bounds=(0, 1), epsilon=1e4, basis=basis, penalty="ar", psi=0.1
    ).fit(FRAME)
    kept = fitted.basis_.n_basis
    assert kept == fitted.law_.size < 20
    gram = fitted.basis_.gram()
    np.testing.assert_allclose(gram, np.eye(kept), atol=1e-10)


def test_many_outputs_are_denoised_to_numbers():
    rng = np.random.default_rng(0)
    curves = rng.uniform(-1, 1, (50, 6, 150))
    fitted = ICLPMean(bounds=(-1, 1), epsilon=1e3).fit(curves)
    assert np.isfinite(fitted.mean_).all()


def test_a_second_fit_forgets_the_form_of_the_first():
    named = FRAME.rename(columns={0: "a", 1: "b", 2: "c"})
    fitted = model(domain=(0, 1)).fit(named)
    assert fitted.n_features_in_ == 3
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    fitted.fit(Curves([0.1, 0.5], [0.0, 1.0], [0, 1, 2]))
    assert not hasattr(fitted, "n_features_in_")
    assert not hasattr(fitted, "feature_names_in_")


def test_tags_and_routing_say_what_is_taken():
    tags = get_tags(model(missing="interpolate"))
    assert tags.input_tags.three_d_array
    assert tags.input_tags.allow_nan
    assert not get_tags(model()).input_tags.allow_nan
    assert "t" not in str(model().get_metadata_routing().predict.requests)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"basis": CosineBasis(9), "n_basis": 3}, "basis says it all"),
        ({"basis": CosineBasis(9), "kernel": "gaussian"}, "basis says it all"),
        ({"basis": CosineBasis}, "basis must be a Basis object"),
        ({"basis": 3}, "basis must be a Basis object"),
        ({"denoise": "no"}, "denoise must be True or False"),
    ],
)
def test_parameters_are_used_or_refused(parameters, text):
    with pytest.raises((TypeError, ValueError), match=text):
        model(**parameters).fit(FRAME)


def test_sampled_noise_is_never_the_noise_of_the_release():
    rng = np.random.default_rng(0)
    fitted = model(random_state=7, denoise=False).fit(rng.uniform(0, 1, (9, 12)))
    sampled = fitted.sample(1, random_state=7)[0]
    silent = model(random_state=7, denoise=False).fit(np.full((9, 12), 0.5))
    drawn = silent.mean_ - 0.5  # the noise itself, up to the lattice
    assert np.abs(drawn - sampled).max() > fitted.noise_std_.min() / 100


def test_progress_does_not_tell_the_number_of_rows(capsys):
    curves = Curves(
        np.full(14, 0.5), np.tile([0.0, 1.0], 7), 2 * np.arange(8), domain=(0, 1)
    )
    model(verbose=True).fit(curves, groups=[0, 0, 0, 0, 1, 1, 2])
    shown = set(re.findall(r"(\d+)%", capsys.readouterr().err))
    assert shown
    assert all(int(share) % 10 == 0 for share in shown)


@pytest.mark.filterwarnings("error")
def test_private_times_cause_no_warning():
    curves = Curves([0.1, 0.2, 0.3, 0.4], [0.0, 1e-310, -5e-324, 5e-324], [0, 2, 4])
    fitted = model(domain=(0, 1)).fit(curves)
    assert np.isfinite(fitted.mean_).all()
    with np.errstate(all="raise"):
        assert np.isfinite(model(domain=(0, 1)).fit(curves).mean_).all()
