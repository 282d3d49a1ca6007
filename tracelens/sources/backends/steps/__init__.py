"""From recorded spans to calls, for every format whose records are spans, runs or observations.

`model` says what a format hands over: a row per span (`STEPS`) and a row per call that a model asked for (`ASKS`).
`asks` finds the latter in what models said, `told` the results that models were told, `tree` the ancestors of spans,
`pairs` which span ran which request, and `flat` puts them together. May import `tracelens.columns`,
`tracelens.projection` and `tracelens.kernels`.
"""
