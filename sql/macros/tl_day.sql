-- One value: the calendar day of an instant, in UTC or in the zone that `SET VARIABLE tz = 'Europe/Berlin'` (or
-- `tracelens sql --tz`) names; null for null.
CREATE OR REPLACE MACRO tl_day(instant) AS
    CAST(timezone(coalesce(getvariable('tz')::VARCHAR, 'UTC'), instant) AS DATE);
