-- How many distinct names a list has; every call without a usable name (null or empty) is one of its own.
CREATE OR REPLACE MACRO tl_distinct(names) AS
    len(list_distinct(tl_named(names))) + len(names) - len(tl_named(names));
