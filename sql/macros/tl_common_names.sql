-- How many distinct names two lists share; null where a list is null.
CREATE OR REPLACE MACRO tl_common_names(actual, expected) AS
    CASE WHEN expected IS NOT NULL THEN
        len(list_distinct(list_filter(tl_named(actual), lambda x: list_contains(expected, x))))
    END;
