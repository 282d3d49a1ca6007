-- One value per pair of lists of names with their lists of canonical arguments (text or digests, null: not recorded),
-- 0 to 1, in closed form: 0.5 for every pair of equal names, 0.5 more for every pair of equal calls, over the longer
-- length; 1 where both lists are empty; null where a list is null or arguments that matter were not recorded.
-- Matchers and tolerances are beyond it.
CREATE OR REPLACE MACRO tl_accuracy_optimal(actual, expected, actual_arguments, expected_arguments) AS
    CASE WHEN NOT tl_arguments_unknown(actual, expected, actual_arguments) THEN tl_over(
        0.5::DOUBLE * tl_overlap(tl_named(actual), tl_named(expected))
        + 0.5::DOUBLE * tl_overlap(tl_calls(actual, actual_arguments), tl_calls(expected, expected_arguments)),
        greatest(len(actual), len(expected))
    ) END;
