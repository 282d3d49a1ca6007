-- The kind of a reason of a trace: the sentence without what differs from trace to trace. Numbers of calls, values and
-- scores are left out or written as an ellipsis. Null gives null. (Positions in arrays are left to the caller: most
-- reasons have none, and this is done for millions.)
CREATE MACRO reason_kind(reason) AS
    CASE
        WHEN reason IS NULL THEN NULL
        -- a score below its threshold: "strict is 0.5, below 1"
        WHEN contains(reason, ', below ')
            THEN concat(split_part(reason, ' is ', 1), ' below ', split_part(reason, ', below ', 2))
        -- a defect of a pair: "call 2: book_flight.seat = "12a" was not expected"
        WHEN starts_with(reason, 'call ') OR starts_with(reason, 'expected call ')
            THEN CASE
                WHEN contains(reason, ' repeats call ')
                    THEN concat(substr(split_part(reason, ' repeats call ', 1), strpos(reason, ': ') + 2), ' repeats an earlier call')
                WHEN contains(reason, ' is missing, expected ')
                    THEN concat(substr(split_part(reason, ' is missing, expected ', 1), strpos(reason, ': ') + 2), ' is missing')
                WHEN contains(reason, ', expected ')
                    THEN concat(substr(split_part(reason, ' is ', 1), strpos(reason, ': ') + 2), ' is not as expected')
                WHEN contains(reason, ' = ')
                    THEN concat(substr(split_part(reason, ' = ', 1), strpos(reason, ': ') + 2), ' was not expected')
                ELSE substr(reason, strpos(reason, ': ') + 2)
            END
        -- some findings begin with the name of an argument, which is what matters: "'date' is a required property"
        WHEN contains(reason, ' is a required property') OR contains(reason, ' is a dependency of ')
            OR NOT contains(reason, ': ')
            OR NOT contains('''"{[-0123456789', substr(split_part(reason, ': ', 2), 1, 1))
            THEN reason
        -- the others with its value: "search_flights.origin: 'sfo' does not match '^[A-Z]{3}$'"
        ELSE concat(
            split_part(reason, ': ', 1),
            regexp_replace(
                substr(reason, strpos(reason, ': ')),
                '^: (?:''[^'']*''|"[^"]*"|-?[0-9][-+.0-9eE]*|\{.*\}|\[.*\]) ',
                ': … '
            )
        )
    END;
