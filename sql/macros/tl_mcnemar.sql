-- One value, 0 to 1: two-sided p-value of the exact McNemar test for paired outcomes of which `better` got better and
-- `worse` got worse: how likely a split at least as uneven is where both are equally likely (a binomial test with
-- p = 1/2); 1 where nothing changed.
CREATE OR REPLACE MACRO tl_mcnemar(better, worse) AS
    least(1.0, 2 * coalesce(list_sum(list_transform(
        range(0, least(better, worse)::BIGINT + 1),
        lambda i: exp(lgamma(better + worse + 1) - lgamma(i + 1) - lgamma(better + worse - i + 1) - (better + worse) * ln(2))
    )), 0.5));
