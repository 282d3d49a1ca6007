-- One value: the only id of a list of ids of runs that begin with `start`; an error where there is none, or another one.
CREATE OR REPLACE MACRO tl_only(ids, start) AS
    CASE WHEN len(ids) = 1 THEN ids[1]
    ELSE error(concat(coalesce(len(ids), 0), ' runs have an id that begins with "', start, '" (`FROM runs` shows all)')) END;
