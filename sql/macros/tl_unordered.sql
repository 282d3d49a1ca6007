-- One value per pair of lists of names, 0 to 1: distinct names in both over distinct names in either; null where a
-- list is null.
CREATE OR REPLACE MACRO tl_unordered(actual, expected) AS
    tl_over(
        tl_common_names(actual, expected),
        tl_distinct(actual) + tl_distinct(expected) - tl_common_names(actual, expected)
    );
