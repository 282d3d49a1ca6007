-- One value, 0 to 1: upper end of the Wilson score interval of a share (Wilson 1927), by default at 95 % confidence
-- (z = 1.96 standard errors); null where n is 0 or null.
CREATE OR REPLACE MACRO tl_wilson_high(passed, n, z := 1.959963984540054) AS
    CASE WHEN n > 0 THEN least(1.0,
        ((passed + z * z / 2) + z * sqrt(passed * (n - passed) / n::DOUBLE + z * z / 4)) / (n + z * z)
    ) END;
