-- One value: the sum of numbers, the same whatever the order they come in, which threads change: added up as decimals of 15
-- places (sums that reach 1e12 in one value are added up as floating-point numbers). null: all of them are null.
CREATE OR REPLACE MACRO tl_exact_sum(x) AS
    CASE WHEN max(abs(x)) < 1e12 THEN CAST(sum(TRY_CAST(x AS DECIMAL(38, 15))) AS DOUBLE) ELSE fsum(x) END;
