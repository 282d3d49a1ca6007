-- One value, 0 to 1: chance that all of k trials pass, estimated without bias from n trials of which c passed:
-- C(c, k) / C(n, k) (pass^k of tau-bench, arXiv:2406.12045); null where n < k.
CREATE OR REPLACE MACRO tl_pass_hat_k(n, c, k) AS
    CASE WHEN k >= 1 AND n >= k THEN tl_choose_ratio(c, n, k) END;
