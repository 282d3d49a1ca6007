"""One module a library: its metrics as formulas over a `View`, and what is known of it."""
