-- One value per pair of lists of names, 0 to 1: share of the distinct expected names that were called, 1 where nothing
-- was expected; null where a list is null.
CREATE OR REPLACE MACRO tl_subset_partial(actual, expected) AS
    tl_over(tl_common_names(actual, expected), tl_distinct(expected));
