-- A score is null or within its range; NaN is neither.
SELECT run_id, trace_id
FROM stored.traces
WHERE NOT (
    coalesce(strict, 0) BETWEEN 0 AND 1
    AND coalesce(unordered, 0) BETWEEN 0 AND 1
    AND coalesce(subset, 0) IN (0, 1)
    AND coalesce(superset, 0) IN (0, 1)
    AND coalesce(subset_partial, 0) BETWEEN 0 AND 1
    AND coalesce(superset_partial, 0) BETWEEN 0 AND 1
    AND coalesce(exact_order, 0) IN (0, 1)
    AND coalesce(in_order, 0) IN (0, 1)
    AND coalesce(any_order, 0) IN (0, 1)
    AND coalesce("precision", 0) BETWEEN 0 AND 1
    AND coalesce(recall, 0) BETWEEN 0 AND 1
    AND coalesce(f1, 0) BETWEEN 0 AND 1
    AND coalesce(lcs, 0) BETWEEN 0 AND 1
    AND coalesce(accuracy_positional, 0) BETWEEN 0 AND 1
    AND coalesce(accuracy_best_unused, 0) BETWEEN 0 AND 1
    AND coalesce(accuracy_optimal, 0) BETWEEN 0 AND 1
    AND coalesce(accuracy_graded, 0) BETWEEN 0 AND 1
    AND coalesce(golden_score, 0) BETWEEN 0 AND 100
)
