-- One value per pair of lists of names, 1 or 0: whether the expected names are a sub-multiset of the called ones; null
-- where a list is null.
CREATE OR REPLACE MACRO tl_any_order(actual, expected) AS
    (tl_overlap(tl_named(actual), tl_named(expected)) = len(expected))::DOUBLE;
