"""Running: the only package that knows the order of the stages.

`plan` compiles a suite, `batch` scores one batch (a pure function), `stream` feeds batches through threads and keeps
their order, `score` is the whole run from source to stored tables.
"""

from tracelens.run.score import score_run

__all__ = ["score_run"]
