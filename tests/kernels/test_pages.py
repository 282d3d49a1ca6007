import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.kernels.pages import SPARE, number_codes, number_values, pack_bits, pack_runs, put_texts

CODES = st.lists(st.tuples(st.integers(0, 2**20), st.integers(1, 40)), min_size=1, max_size=12)


def unpacked(data, width, n):
    """n numbers from Parquet's hybrid of runs and packed bits, as the format describes it."""
    out, at = [], 0
    while len(out) < n:
        head, shift = 0, 0
        while True:
            head |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        size = (head >> 1) * width if head & 1 else (width + 7) // 8
        bits = int.from_bytes(data[at : at + size], "little")
        at += size
        if head & 1:
            out += [bits >> (i * width) & ((1 << width) - 1) for i in range((head >> 1) * 8)]
        else:
            out += [bits] * (head >> 1)
    assert at == len(data)
    return out[:n]


@given(CODES, st.booleans())
@settings(deadline=None)
def test_packed_numbers_come_back(runs, narrow):
    codes = np.array([code % 5 if narrow else code for code, length in runs for _ in range(length)], np.int32)
    width = max(1, int(codes.max()).bit_length())
    out = np.full((codes.size + 7) // 8 * width + 10 + SPARE, 255, np.uint8)
    size = pack_bits(codes, width, out)
    assert unpacked(out[:size].tobytes(), width, codes.size) == codes.tolist()
    assert (out[size + SPARE :] == 255).all()
    for limit in (3, 10**4):
        out = np.full(limit + 16 + SPARE, 255, np.uint8)
        size = pack_runs(codes, width, limit, out)
        if size >= 0:
            assert size <= limit
            assert unpacked(out[:size].tobytes(), width, codes.size) == codes.tolist()
        else:
            assert limit == 3


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3), st.integers(-(2**62), 2**62))), st.sampled_from([2, 8, 64]))
@settings(deadline=None)
def test_values_are_numbered_by_first_appearance(values, slots):
    there = [value for value in values if value is not None]
    order = list(dict.fromkeys(there))
    words = np.array([0 if value is None else value for value in values], np.int64).view(np.uint64)
    valid = np.array([value is not None for value in values], np.bool_)
    room, codes = slots - 1, np.zeros(len(there), np.int32)
    distinct = np.zeros(room, np.uint64)
    count = number_values(words, valid, np.full(slots, -1, np.int32), distinct, codes)
    if len(order) > room:
        assert count == -1
    else:
        assert distinct[:count].view(np.int64).tolist() == order
        assert codes.tolist() == [order.index(value) for value in there]


@given(st.lists(st.one_of(st.none(), st.integers(-4, 9))))
@settings(deadline=None)
def test_small_integers_are_numbered_alike(values):
    there = [value for value in values if value is not None]
    order = list(dict.fromkeys(there))
    small = np.array([99 if value is None else value for value in values], np.int32)
    valid = np.array([value is not None for value in values], np.bool_)
    distinct, codes = np.zeros(14, np.int32), np.zeros(len(there), np.int32)
    count = number_codes(small, valid, -4, np.full(14, -1, np.int32), distinct, codes)
    assert distinct[:count].tolist() == order
    assert codes.tolist() == [order.index(value) for value in there]


@pytest.mark.parametrize("size", range(20))
def test_texts_are_copied_whole_and_nothing_beyond(size):
    texts = [b"ab" * size, b"", b"x" * size, b"yz", "é".encode().ljust(size, b"!")]
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.append(0, np.cumsum([len(text) for text in texts]))
    for first, last, kept in ((0, 5, [1, 1, 1, 1, 1]), (1, 4, [1, 1, 0, 1, 1]), (0, 5, [0, 1, 1, 0, 0])):
        written = [text for i, text in enumerate(texts) if first <= i < last and kept[i]]
        wanted = b"".join(len(text).to_bytes(4, "little") + text for text in written)
        out = np.full(3 + len(wanted) + SPARE + 4, 255, np.uint8)
        valid = np.array(kept, np.bool_) if 0 in kept else np.zeros(0, np.bool_)
        assert put_texts(data, offsets, valid, first, last, out, 3) == 3 + len(wanted)
        assert out[3 : 3 + len(wanted)].tobytes() == wanted
        assert (out[:3] == 255).all()
        assert (out[3 + len(wanted) + SPARE :] == 255).all()
