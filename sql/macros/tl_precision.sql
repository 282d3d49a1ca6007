-- One value per pair of lists of names, 0 to 1: multiset overlap over the number of calls, 1 where there is none; null
-- where a list is null.
CREATE OR REPLACE MACRO tl_precision(actual, expected) AS
    tl_over(tl_overlap(tl_named(actual), tl_named(expected)), len(actual));
