-- Length of the common prefix of two lists of names: the positions before the first one that differs.
CREATE OR REPLACE MACRO tl_prefix(actual, expected) AS
    CASE WHEN actual IS NOT NULL AND expected IS NOT NULL THEN coalesce(
        list_min(list_filter(
            range(1, least(len(actual), len(expected)) + 1),
            lambda i: actual[i] IS DISTINCT FROM expected[i] OR actual[i] IS NULL OR actual[i] = ''
        )) - 1,
        least(len(actual), len(expected))
    ) END;
