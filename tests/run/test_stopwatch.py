import time

from tracelens.run.stopwatch import Stopwatch


def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_what_passes_belongs_to_the_stage_in_which_it_passed():
    watch = Stopwatch()
    busy(0.02)
    watch.lap("a")
    with watch.stage("b"):
        busy(0.01)
    watch.lap("a")
    assert list(watch.seconds) == ["a", "b"]
    assert watch.seconds["a"] >= 0.02 > watch.seconds["b"] >= 0.01


def test_items_come_as_they_are_and_getting_them_is_measured():
    def items():
        for k in range(3):
            busy(0.005)
            yield k

    watch = Stopwatch()
    assert list(watch.over("read", items())) == [0, 1, 2]
    assert watch.seconds["read"] >= 0.015


def test_watches_add_up_and_the_rest_of_the_process_is_other():
    start, watch = time.process_time(), Stopwatch()
    busy(0.01)
    watch.add({"a": 0.0, "b": 0.001})
    watch.add({"b": 0.001})
    seconds = watch.all(since=start)
    assert seconds["b"] == 0.002
    assert list(seconds) == ["a", "b", "other"]
    assert seconds["other"] >= 0.008
    assert watch.all(since=time.process_time())["other"] == 0.0
