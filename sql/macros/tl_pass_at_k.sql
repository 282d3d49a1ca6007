-- One value, 0 to 1: chance that at least one of k trials passes, estimated without bias from n trials of which c
-- passed: 1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374); null where n < k.
CREATE OR REPLACE MACRO tl_pass_at_k(n, c, k) AS
    CASE WHEN k >= 1 AND n >= k THEN 1 - tl_choose_ratio(n - c, n, k) END;
