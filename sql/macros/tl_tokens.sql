-- One value: about how many tokens a number of bytes of text is to a language model, a quarter of them, rounded up.
CREATE OR REPLACE MACRO tl_tokens(bytes) AS
    CAST(ceil(bytes / 4.0) AS BIGINT);
