# ruff: noqa: E501 - a line of code is one line
"""Ways to break `PrivateNumberMean`, and the checks that must notice.

Each is a list of replacements in its source, and the names of all checks that fail.
"""

HELD = "check_only_what_is_released_is_held"
KEPT = "check_data_are_let_go"
INDEX = "check_frames_leave_no_index"
PUBLIC = "check_public_attributes_are_equal_for_neighbours"
DECIDED = "check_releases_decide_the_fit"
WARNED = "check_neighbours_are_warned_alike"
REFUSED = "check_bad_data_are_refused_alike_and_for_free"
CHARGED = "check_every_release_is_charged_before_the_draw"
ERRORS = "check_an_error_after_the_charge_stays_charged"
EXCEEDED = "check_an_exceeded_budget_draws_nothing"
UNFIT = "check_a_missing_or_unfit_ledger_draws_nothing"
COPIES = "check_copies_charge_the_same_file"
SYSTEM = "check_bits_come_from_the_operating_system"
GLOBAL = "check_numpy_global_state_is_left_alone"
FRESH = "check_every_release_is_a_new_draw"
FROZEN = "check_one_frozen_function_per_fit"
LATER = "check_later_parameters_do_not_change_a_release"
STRICT = "check_strict_mode_is_obeyed"
BUDGETS = "check_bad_budgets_are_refused"
STATES = "check_bad_random_states_are_refused"
LATTICE = "check_releases_are_on_a_fine_public_lattice"
LOSS = "check_a_neighbour_loses_at_most_the_promise"
BRUTE = "check_no_neighbour_loses_more_than_the_promise"
AUDIT = "check_an_audit_finds_at_most_the_promise"
SCALED = "check_units_change_a_release_by_their_factor"
ALONE = "check_data_are_left_alone"
DELTAS = "check_bad_deltas_are_refused"
LARGE = "check_a_delta_of_one_over_n_is_warned_of"
PRINTED = "check_nothing_is_printed_or_logged"

LAW = "law = SphericalLaplace.scale_for(self.epsilon, ball.sensitivity, size=1)"
CHARGE = "            self._open_release(guarantee, n_people)\n"
END = "        self.guarantee_ = guarantee\n"
READ = "rows = self._read(X, reset=True)"
MEAN = "self.mean_ = center + lattice.to_float(released) / n_people"
REFUSAL = "raise ValueError(REFUSAL)"
CLIPPED = "total = ball.sum(np.clip(rows[:, :1], low, high) - center)"
WHOLE = """from skfuncpriv.noise import FixedPoint, Lattice
            steps = np.rint(np.ldexp(rows[:, :1] - center, 20)).clip(-2**52, 2**52)
            most = n_people * 2**29
            total = FixedPoint(steps.astype(int).sum(0), Lattice(-20), most)"""

BROKEN = {
    "keeps its rows": (
        [(END, END + "        self.rows_ = rows\n")],
        [HELD, KEPT, SCALED, PUBLIC, DECIDED],
    ),
    "keeps a row in a closure": (
        [(END, END + "        row = rows[3]\n        self._shape = row.copy().view\n")],
        [HELD, DECIDED],
    ),
    "keeps its noise": (
        [
            (
                MEAN,
                MEAN
                + "\n            self.off_ = self.mean_ - center - lattice.to_float(released * 0) - total.lattice.to_float(total.values) / n_people",
            )
        ],
        [HELD, SCALED, PUBLIC, DECIDED],
    ),
    "keeps the index": (
        [(END, END + "        self.names_ = getattr(X, 'index', None)\n")],
        [INDEX],
    ),
    "prints": ([(END, END + "        print(n_people)\n")], [PRINTED]),
    "sorts in place": (
        [(READ, READ + "\n        rows.sort(axis=0) if X is rows else None")],
        [ALONE],
    ),
    "warns of clipping": (
        [
            (
                END,
                END
                + "        import warnings\n        (rows > 1e9).any() and warnings.warn('clipped')\n",
            )
        ],
        [WARNED],
    ),
    "stops at outliers": (
        [
            (
                END,
                END
                + "        if rows.max() > 1e9:\n            raise ValueError('outliers')\n",
            )
        ],
        [PUBLIC, DECIDED, WARNED, LATTICE, LOSS, BRUTE, AUDIT],
    ),
    "draws in predict": (
        [
            (
                "return np.repeat(self.mean_, len(self._read(X, reset=False)))",
                "return self.mean_ + np.random.default_rng().normal(size=len(X))",
            )
        ],
        [HELD, INDEX, SCALED, DECIDED, EXCEEDED, FROZEN, LATER],
    ),
    "charges after the draw": (
        [
            (CHARGE, ""),
            (END, "        self._open_release(guarantee, n_people)\n" + END),
        ],
        [CHARGED, ERRORS, EXCEEDED, UNFIT],
    ),
    "never charges": (
        [(CHARGE, "            self._forget()\n")],
        [CHARGED, ERRORS, EXCEEDED, UNFIT, STRICT],
    ),
    "charges once": (
        [
            (
                CHARGE,
                "            hasattr(self, 'mean_') or self._open_release(guarantee, n_people)\n            self._forget()\n",
            )
        ],
        [CHARGED, ERRORS, EXCEEDED],
    ),
    "forgets to forget": (
        [(CHARGE, "            self._charge(guarantee)\n")],
        [ERRORS],
    ),
    "charges first of all": (
        [
            (
                READ,
                "self._open_release(guarantee)\n        rows = self._read(X, reset=True)",
            )
        ],
        [REFUSED, CHARGED, ERRORS, EXCEEDED, STRICT],
    ),
    "wrong by the root of two": (
        [
            (
                LAW,
                "law = SphericalLaplace.scale_for(self.epsilon, ball.sensitivity / 2**0.5, size=1)",
            )
        ],
        [LOSS, BRUTE, AUDIT],
    ),
    "half as private as need be": (
        [
            (
                LAW,
                "law = SphericalLaplace.scale_for(self.epsilon, ball.sensitivity * 2**0.5, size=1)",
            )
        ],
        [LOSS, AUDIT],
    ),
    "forgets the clip": ([(CLIPPED, WHOLE)], [SCALED, LATTICE, LOSS, BRUTE, AUDIT]),
    "forgets the seed": ([("seeded=bits.seeded", "seeded=False")], [SYSTEM]),
    "takes numpy's state": (
        [
            (
                "released = law.release(total, lattice, bits)",
                "released = law.release(total, lattice, random_bits(np.random.randint(2**31)))",
            )
        ],
        [INDEX, SCALED, CHARGED, SYSTEM, GLOBAL],
    ),
    "takes a fixed seed": (
        [
            (
                "bits = random_bits(self.random_state)",
                "bits = random_bits(self.random_state or 1)",
            )
        ],
        [CHARGED, SYSTEM, GLOBAL, FRESH],
    ),
    "bounds from data": (
        [
            (
                "(low, high) = len(rows), self.bounds",
                "(low, high) = len(rows), (rows.min(), rows.max())",
            )
        ],
        [DECIDED, WARNED, LOSS, BRUTE, AUDIT],
    ),
    "counts iterations": (
        [(END, END + "        self.n_iter_ = int((rows > 899).sum())\n")],
        [SCALED, PUBLIC, DECIDED],
    ),
    "quotes a value": (
        [(REFUSAL, 'raise ValueError(f"X holds {np.ravel(rows)[:40]}")')],
        [REFUSED],
    ),
    "takes infinities": ([("np.isfinite(rows).all()", "True")], [REFUSED]),
    "a coarse lattice": (
        [
            (
                "release_lattice(law.smallest_scale, total)",
                "release_lattice(law.smallest_scale * 2**9, total)",
            )
        ],
        [LATTICE],
    ),
    "a private lattice": (
        [
            (
                "release_lattice(law.smallest_scale, total)",
                "release_lattice(law.smallest_scale / (1 + (total.values[0] > 0)), total)",
            )
        ],
        [DECIDED],
    ),
    "rounds the mean": (
        [("self.mean_ = center +", "self.mean_ = 0.1 + center +")],
        [SCALED],
    ),
    "ignores strict mode": (
        [
            ("        self._check_ledger()\n", ""),
            (
                "        return self\n\n",
                "        return self\n\n    def _check_ledger(self):\n        pass\n\n",
            ),
        ],
        [STRICT],
    ),
    "takes any budget": (
        [
            (
                "epsilon=self.epsilon, seeded",
                "epsilon=abs(float(self.epsilon or 1)), seeded",
            )
        ],
        [BUDGETS],
    ),
    "takes any seed": (
        [
            (
                "random_bits(self.random_state)",
                "random_bits(self.random_state if type(self.random_state) is int and self.random_state >= 0 else None)",
            )
        ],
        [STATES],
    ),
    "noise of its own": (
        [
            (
                "released = law.release(total, lattice, bits)",
                "released = total.values + np.frombuffer(bits.words(1).tobytes(), np.int32)[:1]",
            )
        ],
        [HELD, DECIDED, LATTICE, LOSS, BRUTE, AUDIT],
    ),
    "loses its ledger in a pickle": (
        [
            (
                "    def predict(",
                "    def __getstate__(self):\n        return {**super().__getstate__(), 'ledger': None}\n\n    def predict(",
            )
        ],
        [COPIES],
    ),
    "takes any delta": (
        [
            ("epsilon=1.0,", "epsilon=1.0, delta=0.0,"),
            (
                "        self.epsilon = epsilon\n",
                "        self.epsilon = epsilon\n        self.delta = delta\n",
            ),
        ],
        [DELTAS],
    ),
    "does not warn of a delta": (
        [
            ("epsilon=1.0,", "epsilon=1.0, delta=0.0,"),
            (
                "        self.epsilon = epsilon\n",
                "        self.epsilon = epsilon\n        self.delta = delta\n",
            ),
            (
                'definition="pure-dp",',
                'definition="approx-dp" if self.delta else "pure-dp", delta=self.delta,',
            ),
            (
                "self._open_release(guarantee, n_people)",
                "self._open_release(guarantee)",
            ),
        ],
        [LARGE],
    ),
}
