-- One value, 0 to 1: a number that looks random and is always the same for the same whole number, in every version of the
-- database: a power modulo the prime 2^31 - 1, twice.
CREATE OR REPLACE MACRO tl_random(number) AS
    tl_power_5((tl_power_5(number * 48_271 % 2_147_483_647) + number) * 69_621 % 2_147_483_647) / 2_147_483_647.0;
