-- A share, and 1 where there is nothing to share. `part` and `whole` are counts; null where one of them is.
CREATE OR REPLACE MACRO tl_over(part, whole) AS
    CASE WHEN part IS NOT NULL AND whole = 0 THEN 1.0::DOUBLE ELSE part::DOUBLE / whole END;
