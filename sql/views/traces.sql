-- One row per trace, with every score, count, verdict and diagnostic. Other libraries mean opposite things by subset
-- and superset, so both stand here under a name that says what they mean as well.
SELECT
    *,
    subset AS covers_expected, -- covers_expected: 1 if every expected name was called, else 0 (0..1); null: no reference, or not evaluated
    superset AS only_expected  -- only_expected: 1 if every called name was expected, else 0 (0..1); null: no reference, or not evaluated
FROM stored.traces
