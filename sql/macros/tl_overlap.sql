-- Size of the multiset intersection of two lists; null elements equal nothing.
CREATE OR REPLACE MACRO tl_overlap(actual, expected) AS
    CASE WHEN actual IS NOT NULL AND expected IS NOT NULL THEN coalesce(list_sum(list_transform(
        list_distinct(actual),
        lambda x: least(len(list_filter(actual, lambda y: y = x)), len(list_filter(expected, lambda y: y = x)))
    )), 0)::BIGINT END;
