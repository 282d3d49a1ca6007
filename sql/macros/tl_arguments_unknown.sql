-- Whether a call whose name is expected has null (not recorded) arguments, so that no accuracy can be known.
CREATE OR REPLACE MACRO tl_arguments_unknown(actual, expected, actual_arguments) AS
    len(list_filter(
        range(1, len(actual) + 1),
        lambda i: actual_arguments[i] IS NULL AND actual[i] <> '' AND list_contains(expected, actual[i])
    )) > 0;
