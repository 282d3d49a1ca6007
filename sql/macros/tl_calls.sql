-- Calls as structs {name, arguments} from a list of names and a list of canonical arguments (text or digests), without
-- those that can equal nothing: no usable name, or arguments that are null.
CREATE OR REPLACE MACRO tl_calls(names, arguments) AS
    list_filter(
        list_transform(range(1, len(names) + 1), lambda i: {'name': names[i], 'arguments': arguments[i]}),
        lambda x: x.name IS NOT NULL AND x.name <> '' AND x.arguments IS NOT NULL
    );
