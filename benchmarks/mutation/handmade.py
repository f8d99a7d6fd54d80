"""Mutants written by hand: the mistakes that cost privacy, in every mechanism.

Each is (kind, module, old text, new text, tests); every one must be killed.
"""

SQRT2, FACTOR, COUNT = "square root of two", "factor of two", "off by one in n"
CLIP, CHARGE, SPENT, SEED = "missing clip", "missing charge", "budget", "seed"
UNIT = "unit of privacy"
OPEN = "self._open_release("
SKIPPED = "(lambda *_: None)("

PACKAGE = "skfuncpriv/"
ICLP, DENSITY = "skfuncpriv/iclp/", "skfuncpriv/density/"
PROCESS, LOCAL = "skfuncpriv/gaussian_process/", "skfuncpriv/local/"
SUMMARIES, SEARCHES = "skfuncpriv/summaries/", "skfuncpriv/model_selection/"

MEAN_TESTS = "tests/iclp/test_plan.py tests/iclp/test_sensitivity.py"
MOMENT_TESTS = (
    "tests/iclp/test_second_moment.py tests/iclp/test_covariance_sensitivity.py"
)
STATISTICS_TESTS = "tests/iclp/test_statistics.py"
MINIMISER_TESTS = "tests/iclp/test_minimiser.py"
SPARSE_TESTS = "tests/iclp/test_sparse_sensitivity.py tests/iclp/test_sparse_mean.py"
BERNSTEIN_TESTS = "tests/iclp/test_bernstein_mean.py"
ROUNDS_TESTS = "tests/iclp/test_rounds.py"
RADIUS_TESTS = "tests/iclp/test_radius.py"
DENSITY_TESTS = (
    "tests/density/test_outside.py tests/density/test_sensitivity.py "
    "tests/density/test_attacks.py"
)
LATTICE_TESTS = "tests/density/test_bernstein.py"
BUMP_TESTS = "tests/gaussian_process/test_density_sensitivity.py"
RELEASER_TESTS = (
    "tests/gaussian_process/test_adapters.py "
    "tests/gaussian_process/test_noise.py tests/gaussian_process/test_sensitivity.py"
)
MACHINE_TESTS = (
    "tests/gaussian_process/test_machine_plan.py tests/gaussian_process/test_erm.py "
    "tests/gaussian_process/test_machine_sensitivity.py"
)
LOCAL_TESTS = "tests/test_local_ledger.py tests/test_local_estimators.py"
CHARGED = "tests/test_common.py::check_every_release_is_charged_before_the_draw"
ESTIMATOR_TESTS = "tests/iclp/test_frl_mean.py tests/iclp/test_moment_attacks.py"

VOTE_TESTS = "tests/model_selection/test_sensitivity.py"
SEARCH_TESTS = "tests/model_selection/test_search.py"
SLOT_TESTS = "tests/model_selection/test_slots.py"
STOP_TESTS = "tests/model_selection/test_stopping.py"

MEANS = [
    (FACTOR, ICLP + "_plan.py", "SENSITIVITY = 2 *", "SENSITIVITY = 1 *", MEAN_TESTS),
    (
        SQRT2,
        ICLP + "_plan.py",
        "SENSITIVITY = 2 *",
        "SENSITIVITY = 2**0.5 *",
        MEAN_TESTS,
    ),
    (
        COUNT,
        ICLP + "_plan.py",
        "std = self.law.std * self._repeated_weights / self.n_people",
        "std = self.law.std * self._repeated_weights / (self.n_people - 1)",
        MEAN_TESTS,
    ),
    (
        UNIT,
        ICLP + "_contributions.py",
        "yield person_averages(rows[seen], codes[seen], number_of_people(codes), "
        "radius)",
        "yield rows[seen]",
        MEAN_TESTS,
    ),
    (
        SPENT,
        ICLP + "_rounds.py",
        "fine = epsilon - 2 * small",
        "fine = epsilon - small",
        ROUNDS_TESTS,
    ),
    (
        SPENT,
        ICLP + "_rounds.py",
        "while 2 * Fraction(small) + Fraction(fine) > exact_epsilon(epsilon):",
        "while False:",
        ROUNDS_TESTS,
    ),
    (
        CLIP,
        ICLP + "_rounds.py",
        "rows.per_person(_within_unit_ball)",
        "rows.per_person(lambda rows, _: rows)",
        ROUNDS_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_radius.py",
        "scores = -beyond - price",
        "scores = -2 * beyond - price",
        RADIUS_TESTS,
    ),
    (FACTOR, ICLP + "_radius.py", "_HALF = 0.5", "_HALF = 0.25", RADIUS_TESTS),
    (
        COUNT,
        ICLP + "_radius.py",
        "affordable = n_people / (2",
        "affordable = n_people / (1",
        RADIUS_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_lattice_values.py",
        "steps = sum((high - low)",
        "steps = sum(high",
        BERNSTEIN_TESTS,
    ),
    (
        SQRT2,
        ICLP + "_lattice_values.py",
        "return round_up(steps *",
        "return 2**-0.5 * round_up(steps *",
        BERNSTEIN_TESTS,
    ),
    (
        CLIP,
        ICLP + "_lattice_values.py",
        "centred = np.clip(rows, self.values.low, self.values.high)",
        "centred = np.array(rows)",
        BERNSTEIN_TESTS,
    ),
    (
        CLIP,
        ICLP + "_lattice_values.py",
        "integers = np.clip(integers, low, high)",
        "integers = integers",
        BERNSTEIN_TESTS,
    ),
    (
        COUNT,
        ICLP + "_bernstein_mean.py",
        "(scale,) * self.points.box[0].size",
        "(scale / self.points.n_people,) * self.points.box[0].size",
        BERNSTEIN_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_sparse_plan.py",
        "radius = self.ball.sensitivity",
        "radius = self.ball.sensitivity / 2",
        SPARSE_TESTS,
    ),
    (
        SQRT2,
        ICLP + "_sparse_plan.py",
        "radius = self.ball.sensitivity",
        "radius = self.ball.sensitivity / 2**0.5",
        SPARSE_TESTS,
    ),
    (
        CLIP,
        ICLP + "_sparse_data.py",
        "np.clip(heights, values.low, values.high)",
        "heights",
        SPARSE_TESTS,
    ),
]

MOMENTS = [
    (
        SQRT2,
        ICLP + "_second_moment.py",
        "unit = (2 + square) / _ROOT_TWO if",
        "unit = (2 + square) / 2 if",
        MOMENT_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_second_moment.py",
        "unit = (2 + square) / _ROOT_TWO if",
        "unit = (1 + square) / _ROOT_TWO if",
        MOMENT_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_second_moment.py",
        "if square <= 2 else 2 * weight",
        "if square <= 2 else weight",
        MOMENT_TESTS,
    ),
    (
        COUNT,
        ICLP + "_second_moment.py",
        "((n_people - 1) / n_people / n_people)",
        "((n_people - 1) / n_people / (n_people + 1))",
        MOMENT_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_second_moment.py",
        "return 4.0 * radius * radius",
        "return 2.0 * radius * radius",
        MOMENT_TESTS,
    ),
    (
        SQRT2,
        ICLP + "_second_moment.py",
        "return _ROOT_TWO * math.sqrt(2 - s * s)",
        "return math.sqrt(2 - s * s)",
        MOMENT_TESTS,
    ),
    (
        SQRT2,
        ICLP + "_second_moment.py",
        "np.where(rows == columns, 1.0, _ROOT_TWO)",
        "np.where(rows == columns, 1.0, 1.0)",
        MOMENT_TESTS,
    ),
    (
        CLIP,
        ICLP + "_second_moment.py",
        "vectors / np.maximum(norm, radius)[:, None]",
        "vectors / radius",
        MOMENT_TESTS,
    ),
    (
        SPENT,
        ICLP + "_covariance_plan.py",
        "spent = Fraction(self.mean.epsilon) + Fraction(self.epsilon_radius or 0.0)",
        "spent = Fraction(self.mean.epsilon)",
        "tests/iclp/test_covariance_plan.py",
    ),
    (
        SPENT,
        ICLP + "_covariance_plan.py",
        "left = total - (larger_reading(SENSITIVITY) / spent) ** 2",
        "left = total",
        "tests/iclp/test_covariance_plan.py",
    ),
    (
        FACTOR,
        ICLP + "_covariance_plan.py",
        "change = larger_reading(self.moment.sensitivity) ** 2",
        "change = larger_reading(self.moment.sensitivity / 2) ** 2",
        "tests/iclp/test_covariance_plan.py",
    ),
]

REGRESSION = [
    (FACTOR, ICLP + "_statistics.py", "return 2.0\n", "return 1.0\n", STATISTICS_TESTS),
    (
        SQRT2,
        ICLP + "_statistics.py",
        "(2 * square + 1) / math.sqrt(2 * square)",
        "(2 * square + 1) / math.sqrt(4 * square)",
        STATISTICS_TESTS,
    ),
    (
        SQRT2,
        ICLP + "_statistics.py",
        "np.where(i == j, self.omega, self.omega * math.sqrt(2))",
        "np.where(i == j, self.omega, self.omega)",
        STATISTICS_TESTS,
    ),
    (
        COUNT,
        ICLP + "_statistics.py",
        "released[size:].reshape(p, self.n_targets) / self.n_people",
        "released[size:].reshape(p, self.n_targets) / (self.n_people - 1)",
        STATISTICS_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_minimiser.py",
        "move = self.loss.sensitivity(KAPPA, self.psi, self.n_people, self.unit)",
        "move = self.loss.sensitivity(KAPPA, self.psi, self.n_people, self.unit) / 2",
        MINIMISER_TESTS,
    ),
    (
        FACTOR,
        ICLP + "_minimiser.py",
        "(Fraction(move) + 2 * error) ** 2",
        "(Fraction(move) + error) ** 2",
        MINIMISER_TESTS + " tests/iclp/test_classifier_sensitivity.py",
    ),
    (
        CLIP,
        ICLP + "_minimiser.py",
        "np.clip(targets, -1, 1)",
        "targets",
        MINIMISER_TESTS,
    ),
    (
        CLIP,
        ICLP + "_minimiser.py",
        "Z = in_unit_ball(features)",
        "Z = np.ascontiguousarray(features)",
        MINIMISER_TESTS,
    ),
    (
        COUNT,
        ICLP + "_minimiser.py",
        "plan.loss, plan.psi, plan.n_people, Z",
        "plan.loss, plan.psi, plan.n_people + 1, Z",
        MINIMISER_TESTS,
    ),
    (
        CLIP,
        ICLP + "_targets.py",
        "np.clip((y - self.center) / self.map[0, 0], -1.0, 1.0)[:, None]",
        "((y - self.center) / self.map[0, 0])[:, None]",
        "tests/iclp/test_regressor_privacy.py tests/iclp/test_regression_attacks.py",
    ),
    (
        FACTOR,
        PROCESS + "_machine_plan.py",
        "each = Fraction(exact) + 2 * error",
        "each = Fraction(exact) + error",
        MACHINE_TESTS,
    ),
    (
        SQRT2,
        PROCESS + "_machine_plan.py",
        "return root_up(self.n_outputs * each**2)",
        "return root_up(each**2)",
        MACHINE_TESTS,
    ),
    (
        SQRT2,
        PROCESS + "_losses.py",
        "math.sqrt(self.largest_pull / (2 * psi))) * _UP",
        "math.sqrt(self.largest_pull / (4 * psi))) * _UP",
        MACHINE_TESTS + " tests/gaussian_process/test_losses.py",
    ),
    (
        FACTOR,
        PROCESS + "_losses.py",
        "return min(move, 2 * self.norm_bound(kappa, psi))",
        "return min(move, self.norm_bound(kappa, psi))",
        MACHINE_TESTS,
    ),
    (
        FACTOR,
        PROCESS + "_erm.py",
        "return round_up(minimiser + 2 * distance)",
        "return round_up(minimiser + distance)",
        MACHINE_TESTS,
    ),
    (
        FACTOR,
        PROCESS + "_erm.py",
        "twice = 2 * half",
        "twice = half",
        MACHINE_TESTS,
    ),
    (
        COUNT,
        PROCESS + "_erm.py",
        "own = 1 / (n + k) if k <= n",
        "own = 1 / (n + 1 + k) if k <= n",
        MACHINE_TESTS,
    ),
]

DENSITIES = [
    (
        FACTOR,
        DENSITY + "_binned.py",
        "_L1, _L2 = 2.0,",
        "_L1, _L2 = 1.0,",
        DENSITY_TESTS,
    ),
    (
        SQRT2,
        DENSITY + "_binned.py",
        "math.nextafter(math.sqrt(2.0), 2.0)",
        "math.nextafter(1.0, 2.0)",
        DENSITY_TESTS,
    ),
    (
        CLIP,
        DENSITY + "_kernel_plan.py",
        "clipped = np.clip(points, low, high)",
        "clipped = points",
        DENSITY_TESTS,
    ),
    (
        CLIP,
        SUMMARIES + "_bins.py",
        "at = np.clip(x, low, high)",
        "at = np.array(x)",
        "tests/summaries/test_bins.py " + DENSITY_TESTS,
    ),
    (
        UNIT,
        SUMMARIES + "_bins.py",
        "np.add.reduceat(share, first) // counts[owner[first]]",
        "np.add.reduceat(share, first)",
        "tests/summaries/test_bins.py",
    ),
    (FACTOR, DENSITY + "_coefficients.py", "_BALL = 2.0", "_BALL = 1.0", DENSITY_TESTS),
    (
        SQRT2,
        DENSITY + "_coefficients.py",
        "between = (farthest +",
        "between = 2**-0.5 * (farthest +",
        DENSITY_TESTS,
    ),
    (
        SQRT2,
        DENSITY + "_process.py",
        "(math.sqrt(2) * expansion.gain + moved)",
        "(expansion.gain + moved)",
        DENSITY_TESTS,
    ),
    (
        COUNT,
        DENSITY + "_kernel_plan.py",
        "return float(1 / (self.n_people * volume))",
        "return float(1 / ((self.n_people + 1) * volume))",
        DENSITY_TESTS,
    ),
    (
        FACTOR,
        DENSITY + "_lattice_bumps.py",
        "return min(2 * (self.steps - smallest),",
        "return min((self.steps - smallest),",
        LATTICE_TESTS,
    ),
    (
        FACTOR,
        DENSITY + "_bernstein_values.py",
        "size * (1 + 4 * _VALUE_ERROR)",
        "size * (1 + 4 * _VALUE_ERROR) / 2",
        LATTICE_TESTS,
    ),
    (
        CLIP,
        DENSITY + "_bernstein.py",
        "clipped = np.clip(rows, low, high)",
        "clipped = rows",
        LATTICE_TESTS,
    ),
    (
        SPENT,
        DENSITY + "_plans.py",
        "rest = epsilon - spent\n",
        "rest = epsilon\n    return rest\n",
        DENSITY_TESTS + " tests/density/test_kde.py",
    ),
    (
        SQRT2,
        PROCESS + "_density_sensitivity.py",
        "math.sqrt(-2 * math.expm1(-r * r / 2))",
        "math.sqrt(-math.expm1(-r * r / 2))",
        BUMP_TESTS,
    ),
    (
        SQRT2,
        PROCESS + "_density_sensitivity.py",
        "self.largest * math.sqrt(2 * self._lost_share)",
        "self.largest * math.sqrt(self._lost_share)",
        BUMP_TESTS,
    ),
    (
        COUNT,
        PROCESS + "_density_sensitivity.py",
        "family.height / n * family.change",
        "family.height / (n + 1) * family.change",
        BUMP_TESTS,
    ),
    (
        FACTOR,
        PROCESS + "_adapters.py",
        "wrong = 2 * expansion.rounding(self._family.largest)",
        "wrong = 0.0",
        RELEASER_TESTS,
    ),
    (
        COUNT,
        PROCESS + "_adapters.py",
        "return self._family.height / n\n",
        "return self._family.height / (n - 1)\n",
        RELEASER_TESTS,
    ),
    (
        CLIP,
        PROCESS + "_adapters.py",
        "np.clip((y - self.center) / self._half, -1.0, 1.0)",
        "(y - self.center) / self._half",
        RELEASER_TESTS + " tests/gaussian_process/test_releaser.py",
    ),
    (
        CLIP,
        PROCESS + "_releaser.py",
        "clipped = np.clip(rows, low, high) - function.origin",
        "clipped = rows - function.origin",
        RELEASER_TESTS + " tests/gaussian_process/test_releaser.py",
    ),
]

LOCALS = [
    (
        CLIP,
        LOCAL + "_observed.py",
        "centred = np.clip(part, values.low, values.high)\n",
        "centred = np.array(part)\n",
        "tests/local/test_projector.py tests/local/test_attacks.py",
    ),
    (
        CLIP,
        LOCAL + "_observed.py",
        "centred = np.clip(part, values.low, values.high) - values.center",
        "centred = part - values.center",
        "tests/local/test_surfaces.py tests/local/test_projector.py",
    ),
    (
        CLIP,
        LOCAL + "_traces.py",
        "points = np.clip(points, values.low, values.high)",
        "pass",
        "tests/local/test_traces.py tests/local/test_curve_data.py",
    ),
    (
        FACTOR,
        LOCAL + "_budget.py",
        "return SphericalLaplace.scale_for(self.amount, sensitivity, size)",
        "return SphericalLaplace.scale_for(2 * self.amount, sensitivity, size)",
        "tests/local/test_coefficients.py tests/local/test_coefficients_release.py",
    ),
    (
        FACTOR,
        LOCAL + "_budget.py",
        "return IndependentGaussian.scale_for(self.rho, sensitivity, size)",
        "return IndependentGaussian.scale_for(2 * self.rho, sensitivity, size)",
        "tests/local/test_coefficients.py tests/local/test_coefficients_release.py",
    ),
    (
        "error of the metric",
        LOCAL + "_whitening.py",
        "(1 - self.error) ** -0.5",
        "1.0",
        "tests/local/test_whitening.py tests/local/test_naive.py",
    ),
    (
        "error of the metric",
        LOCAL + "_space.py",
        "(1 - self.error) ** -0.5",
        "1.0",
        "tests/local/test_coefficients.py tests/local/test_projection_error.py "
        "tests/local/test_coefficients_release.py",
    ),
    (
        UNIT,
        LOCAL + "_base.py",
        "int(np.bincount(codes).max())",
        "1",
        LOCAL_TESTS,
    ),
    (
        CHARGE,
        LOCAL + "_base.py",
        "self._charge(self.guarantee_, times)",
        "pass",
        LOCAL_TESTS,
    ),
    (
        SEED,
        LOCAL + "_base.py",
        "if bits.seeded != self.guarantee_.seeded:",
        "if False:",
        LOCAL_TESTS,
    ),
]

CHARGES = [
    (
        CHARGE,
        PACKAGE + "_base.py",
        "            self._charge(guarantee)\n",
        "            pass\n",
        CHARGED,
    ),
    (
        "stale guarantee",
        PACKAGE + "_base.py",
        "                self._forget()\n",
        "                pass\n",
        ESTIMATOR_TESTS,
    ),
    *(
        (CHARGE, ICLP + module, OPEN, SKIPPED, CHARGED)
        for module in (
            *("_mean.py", "_baseline.py", "_sparse_mean.py", "_covariance_base.py"),
            *("_regressor.py", "_classifier.py"),
        )
    ),
    *(
        (CHARGE, module, OPEN, SKIPPED, CHARGED)
        for module in (
            *(DENSITY + "_kde.py", DENSITY + "_bernstein.py"),
            *(PROCESS + "_releaser.py", PROCESS + "_machine.py"),
        )
    ),
    (
        CHARGE,
        PROCESS + "_online.py",
        OPEN,
        SKIPPED,
        "tests/gaussian_process/test_online.py",
    ),
]

VOTES, TASK = SEARCHES + "_votes.py", SEARCHES + "_task.py"
CHOICES = [
    (FACTOR, VOTES, "sensitivity=2.0 * half", "sensitivity=1.0 * half", VOTE_TESTS),
    (CLIP, VOTES, "np.clip(scaled, -half, half)", "(scaled)", VOTE_TESTS),
    (SQRT2, VOTES, "float(top), [1.0]", "float(top) / 2**0.5, [1.0]", VOTE_TESTS),
    (
        SPENT,
        TASK,
        'total = compose(parallel(costs["candidates"], choice), costs["refit"])',
        'total = parallel(costs["candidates"], choice)',
        SEARCH_TESTS,
    ),
    (SPENT, SEARCHES + "_stopping.py", "factor = 2 + ", "factor = 1 + ", STOP_TESTS),
    (
        CHARGE,
        SEARCHES + "_search.py",
        "self._open_release(plan.guarantee, task.n_people)",
        "pass",
        SEARCH_TESTS,
    ),
    (
        SPENT,
        SEARCHES + "_search.py",
        "last.guarantee_ = plan.guarantee",
        "pass",
        SEARCH_TESTS,
    ),
    (UNIT, SEARCHES + "_rows.py", "return rank[codes]", "return codes", SLOT_TESTS),
]

MUTANTS = [
    *(*MEANS, *MOMENTS, *REGRESSION, *DENSITIES, *LOCALS, *CHARGES, *CHOICES),
]
