-- One value: the mean of numbers, the same whatever the order they come in, see tl_exact_sum. null: all of them are null.
CREATE OR REPLACE MACRO tl_exact_mean(x) AS tl_exact_sum(x) / nullif(count(x), 0);
