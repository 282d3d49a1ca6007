-- One value per pair of lists of names, 0 to 1: length of the common prefix over the longer length; null where a list
-- is null.
CREATE OR REPLACE MACRO tl_strict(actual, expected) AS
    tl_over(tl_prefix(actual, expected), greatest(len(actual), len(expected)));
