"""Where things stand in the context of a check: one ``int64`` array of addresses and counters.

Slots that begin with ``T_`` are a tape (its columns and the bytes it points into); a second tape has a context of
its own, of `T_SLOTS` slots.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.memory import address_of, load_i64, store_i64
from tracelens.kernels.shred import Tape

(
    T_DATA, T_FIRST, T_KIND, T_FLAGS, T_START, T_END, T_KEY_START, T_KEY_END, T_KEY_HASH, T_SIZE, T_NEXT, T_SLOTS,
) = range(12)  # fmt: skip

(
    # The schemas: see `check.Program`.
    P_HEADS, P_OPS, P_LISTS, P_FLOATS, P_INTEGERS, P_TABLES, P_HASHES, P_BEGINS, P_ENDS, P_ARENA, P_STEPS, P_MARKS,
    P_CONSTANTS,
    # The strings asked about: see `check_text.Memory`.
    M_SLOTS, M_HASH, M_CHECK, M_BEGIN, M_END, M_VERDICT, M_BYTES, M_MASK, M_USED, M_USED_BYTES, M_ROOM, M_ROOM_BYTES,
    # The machine: see `check.Room`. Addresses, then how much room there is, then the counters.
    R_WORK, R_FRAMES, R_SEEN, R_SCRATCH, R_SCRATCH_2, R_EVENTS,
    R_WORK_ROOM, R_FRAMES_ROOM, R_EVENTS_ROOM,
    TOP, DEPTH, EVENTS, UNKNOWN, FULL, STAMP, EXTRA, AFTER,
    SLOTS,
) = range(T_SLOTS, T_SLOTS + 43)  # fmt: skip

# A slot of the context at an address.
get = load_i64
put = store_i64


def put_tape(context: np.ndarray, data: np.ndarray, tape: Tape) -> None:
    """Write a tape's addresses into a context."""
    columns = (
        data, tape.first, tape.kind, tape.flags, tape.start, tape.end, tape.key_start, tape.key_end, tape.key_hash,
        tape.size, tape.next,
    )  # fmt: skip
    for slot, column in enumerate(columns):
        context[slot] = address_of(column)
