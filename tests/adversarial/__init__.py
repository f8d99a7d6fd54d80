"""An attacker's afternoon, attack by attack, and where each is tried.

The attacker knows the source, all parameters and n, may choose everybody's data but one
person's, and sees all that a fit leaves behind. Files of this folder unless said.

=============================  =========================================================
released floats, low bits      test_floats.py (all that is left is a function of the
                               release); tests/noise/test_release.py (fair low bits)
coarse lattice                 test_exact_cells.py
rounding near 2^50             test_floats.py; tests/noise/test_release.py
order, layout, type, chunks    test_floats.py; tests/summaries
poison rows                    test_poison.py; skfuncpriv/testing, whose checks
                               tests/test_private_estimators.py runs
degenerate, lopsided bounds    test_bounds.py; tests/gaussian_process/test_attacks.py,
                               tests/density/test_attacks.py
parameter fuzz                 test_parameters.py; tests/iclp/test_bad_input.py
calibration at 50 digits       test_calibration.py; tests/privacy/test_calibration.py,
                               tests/privacy/test_conversion.py
one to three people            test_sizes.py
averaging, pickles             test_queries.py; tests/gaussian_process/test_online.py
texts, tracebacks, labels      test_texts.py; tests/test_cli_trace_secrets.py,
                               tests/test_cli_density_secrets.py
state, pickle, repr, HTML      skfuncpriv/testing
ledger: tuning, processes      test_budget.py; tests/test_composition.py,
                               tests/privacy/test_ledger.py
ledger: crashes, failures      test_budget.py; tests/privacy/test_ledger_crash.py
seeds                          test_seeds.py; tests/test_config.py (strict mode)
fork and spawn                 test_seeds.py, test_budget.py; tests/noise/test_bits.py,
                               tests/local/test_attacks.py (loky)
wrong sparse vectors           test_sparse_vector.py; the same name in tests/privacy
membership inference           test_membership.py
=============================  =========================================================
"""
