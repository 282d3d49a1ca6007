-- One value per pair of lists of names, 1 or 0: whether every called name was expected; null where a list is null.
CREATE OR REPLACE MACRO tl_superset(actual, expected) AS
    (tl_common_names(actual, expected) = tl_distinct(actual))::DOUBLE;
