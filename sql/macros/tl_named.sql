-- The elements of a list of names that can equal something: null and empty names are calls without a usable name.
CREATE OR REPLACE MACRO tl_named(names) AS
    list_filter(names, lambda x: x IS NOT NULL AND x <> '');
