-- One value per pair of lists of names, 1 or 0: whether every expected name was called; null where a list is null.
CREATE OR REPLACE MACRO tl_subset(actual, expected) AS
    (tl_common_names(actual, expected) = tl_distinct(expected))::DOUBLE;
