-- One value per pair of lists of names, 0 to 1: twice the multiset overlap over the sum of both lengths, 1 where both
-- are empty; null where a list is null.
CREATE OR REPLACE MACRO tl_f1(actual, expected) AS
    tl_over(2 * tl_overlap(tl_named(actual), tl_named(expected)), len(actual) + len(expected));
