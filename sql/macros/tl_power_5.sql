-- One value: the fifth power of a whole number below 2^31, modulo the prime 2^31 - 1; every value comes from one number.
CREATE OR REPLACE MACRO tl_power_5(x) AS
    (x * x % 2_147_483_647) * (x * x % 2_147_483_647) % 2_147_483_647 * x % 2_147_483_647;
