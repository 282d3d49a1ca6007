"""Files of evaluation sets and benchmarks: traces together with what was expected."""
