"""Run folders and the DuckDB connection over them. May import the engine below, never a face."""
