"""Call tables: Parquet files, frames and relations whose row is a call."""
