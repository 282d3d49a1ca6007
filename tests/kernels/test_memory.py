"""Loads and stores by address."""

import numpy as np
import pytest
from numba import njit

from tracelens.kernels import memory as m
from tracelens.kernels.check_text import same_bytes
from tracelens.kernels.jit import kernel


@njit
def loads(u8, i32, i64, u64, f64):
    return m.load_u8(u8, 1), m.load_i32(i32, 1), m.load_i64(i64, 1), m.load_u64(u64, 1), m.load_f64(f64, 1)


@njit
def stores(u8, i64, u64):
    m.store_u8(u8, 1, 255)
    m.store_i64(i64, 1, -5)
    m.store_u64(u64, 1, np.uint64(2**64 - 1))


@kernel
def total(address, size):
    return m.bytes_at(address, size).sum()


def test_loads_and_stores():
    u8, i32 = np.array([1, 200], np.uint8), np.array([1, -7], np.int32)
    i64, u64, f64 = np.array([1, -9]), np.array([1, 2**63], np.uint64), np.array([0.0, 1.5])
    addresses = [m.address_of(each) for each in (u8, i32, i64, u64, f64)]
    assert loads(*addresses) == (200, -7, -9, 2**63, 1.5)
    stores(addresses[0], addresses[2], addresses[3])
    assert (u8[1], i64[1], u64[1]) == (255, -5, 2**64 - 1)
    assert total(addresses[0], 2) == 256


def test_runs_of_bytes_are_equal_where_every_byte_is():
    one = np.arange(64, dtype=np.uint8)
    for start in range(3):
        for length in range(20):
            other = np.zeros(64, np.uint8)
            other[7 : 7 + length] = one[start : start + length]
            runs = m.address_of(one), start, m.address_of(other), 7, length
            assert same_bytes(*runs)
            for at in range(length):
                other[7 + at] ^= 64
                assert not same_bytes(*runs)
                other[7 + at] ^= 64


def test_an_array_with_gaps_has_no_address():
    with pytest.raises(ValueError, match="contiguous"):
        m.address_of(np.arange(6)[::2])
