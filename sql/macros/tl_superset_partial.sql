-- One value per pair of lists of names, 0 to 1: share of the distinct called names that were expected, 1 where nothing
-- was called; null where a list is null.
CREATE OR REPLACE MACRO tl_superset_partial(actual, expected) AS
    tl_over(tl_common_names(actual, expected), tl_distinct(actual));
