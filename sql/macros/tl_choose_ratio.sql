-- One value, 0 to 1: C(m, k) / C(n, k) for m <= n, as a product of k factors, so that nothing grows large.
CREATE OR REPLACE MACRO tl_choose_ratio(m, n, k) AS
    list_product(list_transform(range(0, k), lambda i: greatest(m - i, 0) / (n - i)::DOUBLE));
