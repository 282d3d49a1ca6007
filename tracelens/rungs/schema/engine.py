"""Running the kernel: growing its memory, answering its questions about strings, until every value is decided."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracelens.kernels import check as k
from tracelens.kernels import context as x
from tracelens.kernels.check_number import NO, UNSURE, YES
from tracelens.kernels.check_text import Memory
from tracelens.kernels.context import put_tape
from tracelens.kernels.memory import address_of
from tracelens.kernels.shred import Tape
from tracelens.kernels.sizes import longest_value
from tracelens.kernels.words import PADDING
from tracelens.rungs.schema.program import Compiled

REMEMBERED = 500_000
"""Strings whose answers are kept from batch to batch; beyond that the memory starts anew."""

REMEMBERED_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Attributes:
        state: uint8 by text, `check.VALID`, `INVALID` or `ODD`; untouched texts are `VALID`.
        events: int64[e, 4], the errors of the invalid ones: text, item, operation, extra.
    """

    state: npt.NDArray[np.uint8]
    events: npt.NDArray[np.int64]


class Engine:
    """A program with what it has learned about strings; may be used by several threads at once."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self._memories: list[Memory] = []
        self._lock = threading.Lock()

    def run(
        self,
        data: npt.NDArray[np.uint8],
        tape: Tape,
        texts: npt.NDArray[np.int64],
        roots: npt.NDArray[np.int64],
    ) -> Outcome:
        """Check texts.

        Args:
            data: uint8, padded bytes of the texts.
            tape: Their values.
            texts: int64[m], numbers of the texts to check, each with entries on the tape.
            roots: int64[m], node of each one's schema.

        Returns:
            States by text, and the errors in order of the texts.
        """
        state = np.zeros(tape.first.size - 1, np.uint8)
        machine = _Machine(self.compiled, data, tape, self._borrow())
        while texts.size:
            machine.run(texts, roots, state)
            self._answer(machine.memory)
            again = state[texts] == k.PENDING
            texts, roots = texts[again], roots[again]
        with self._lock:
            self._memories.append(machine.memory)
        events = machine.found()
        return Outcome(state, events[np.argsort(events[:, 0], kind="stable")])

    def _borrow(self) -> Memory:
        with self._lock:
            memory = self._memories.pop() if self._memories else _new_memory(2048, 2**16)
        if memory.used[0] > REMEMBERED or memory.used[1] > REMEMBERED_BYTES:
            return _new_memory(2048, 2**16)
        return memory

    def _answer(self, memory: Memory) -> None:
        """Ask the checks about every string that is new."""
        used = int(memory.used[0])
        checks = self.compiled.checks
        for number in np.flatnonzero(memory.verdict[:used] == UNSURE):
            raw = memory.bytes[memory.begin[number] : memory.end[number]].tobytes()
            text = json.loads(b'"%b"' % raw) if b"\\" in raw else raw.decode()
            memory.verdict[number] = YES if checks[memory.check[number]](text) else NO


class _Machine:
    """The arrays that a context points at, kept alive, and replaced by larger ones where the kernel asks for it."""

    def __init__(self, compiled: Compiled, data: npt.NDArray[np.uint8], tape: Tape, memory: Memory) -> None:
        self.longest = max(longest_value(tape.first, tape.start, tape.end), int(compiled.constant_bytes.size))
        self.memory = memory
        self.context = np.zeros(x.SLOTS, np.int64)
        self.constants = np.zeros(x.T_SLOTS, np.int64)
        self.kept = (compiled, data, tape)
        self.seen = np.zeros(compiled.n_seen, np.int64)
        self.scratch = np.zeros((2, self.longest + 4 * PADDING), np.uint8)
        self.work = np.empty((1024, 2), np.int64)
        self.frames = np.empty((64, 7), np.int64)
        self.events = np.empty((4096, 4), np.int64)
        put_tape(self.context, data, tape)
        put_tape(self.constants, compiled.constant_bytes, compiled.constants)
        for slot, array in zip(range(x.P_HEADS, x.P_CONSTANTS), compiled.program, strict=True):
            self.context[slot] = address_of(array)
        self.connect()

    def connect(self) -> None:
        """Point the context at the arrays that may have been replaced."""
        c, memory = self.context, self.memory
        for slot, array in zip(range(x.M_SLOTS, x.M_MASK), memory[:7], strict=True):
            c[slot] = address_of(array)
        c[x.M_MASK], c[x.M_ROOM], c[x.M_ROOM_BYTES] = memory.slots.size - 1, memory.hash.size, memory.bytes.size
        c[x.M_USED], c[x.M_USED_BYTES] = memory.used
        c[x.R_WORK], c[x.R_FRAMES], c[x.R_SEEN] = map(address_of, (self.work, self.frames, self.seen))
        c[x.R_SCRATCH], c[x.R_SCRATCH_2] = address_of(self.scratch[0]), address_of(self.scratch[1])
        c[x.R_EVENTS] = address_of(self.events)
        c[x.R_WORK_ROOM], c[x.R_FRAMES_ROOM] = self.work.shape[0], self.frames.shape[0]
        c[x.R_EVENTS_ROOM] = self.events.shape[0]

    def run(self, texts: npt.NDArray[np.int64], roots: npt.NDArray[np.int64], state: npt.NDArray[np.uint8]) -> None:
        """Run over all texts once, with more room each time the kernel asks for it."""
        begin = 0
        while True:
            begin = int(
                k.check_values(address_of(self.context), address_of(self.constants), texts, roots, begin, state)
            )
            self.memory.used[:] = self.context[x.M_USED], self.context[x.M_USED_BYTES]
            if begin == texts.size:
                return
            self.enlarge()

    def enlarge(self) -> None:
        """Give twice the room; the events so far are kept."""
        self.work = np.empty((2 * self.work.shape[0], 2), np.int64)
        self.frames = np.empty((2 * self.frames.shape[0], 7), np.int64)
        events = np.empty((2 * self.events.shape[0], 4), np.int64)
        events[: self.events.shape[0]] = self.events
        self.events = events
        self.memory = _larger_memory(self.memory, self.longest)
        self.connect()

    def found(self) -> npt.NDArray[np.int64]:
        """The events."""
        return self.events[: self.context[x.EVENTS]]


def _new_memory(strings: int, size: int) -> Memory:
    slots = 1
    while slots < 2 * strings:
        slots *= 2
    return Memory(
        np.zeros(slots, np.int64),
        np.zeros(strings, np.uint64),
        np.zeros(strings, np.int64),
        np.zeros(strings, np.int64),
        np.zeros(strings, np.int64),
        np.zeros(strings, np.uint8),
        np.zeros(size + PADDING, np.uint8),
        np.zeros(2, np.int64),
    )


def _larger_memory(memory: Memory, longest: int) -> Memory:
    """A memory with room for more, where this one is nearly full; else itself."""
    strings, size = int(memory.used[0]), int(memory.used[1])
    if strings < memory.hash.size and size + longest + 2 * PADDING < memory.bytes.size:
        return memory
    larger = _new_memory(2 * memory.hash.size, 2 * (memory.bytes.size + longest))
    for old, new in zip(memory[1:6], larger[1:6], strict=True):
        new[:strings] = old[:strings]
    larger.bytes[:size] = memory.bytes[:size]
    larger.used[:] = memory.used
    mask = larger.slots.size - 1
    for number in range(strings):
        slot = int(larger.hash[number]) & mask
        while larger.slots[slot]:
            slot = (slot + 1) & mask
        larger.slots[slot] = number + 1
    return larger
