"""Running the kernel: growing its memory, answering its questions about strings, until every value is decided."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracelens.kernels import check as k
from tracelens.kernels.check_number import NO, UNSURE, YES
from tracelens.kernels.check_text import Memory
from tracelens.kernels.shred import Tape
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
        room = _new_room(self.compiled, data, tape)
        memory = self._borrow()
        while texts.size:
            room, memory = self._pass(data, tape, texts, roots, room, memory, state)
            self._answer(memory)
            again = state[texts] == k.PENDING
            texts, roots = texts[again], roots[again]
        with self._lock:
            self._memories.append(memory)
        events = room.events[: room.machine[k.EVENTS]]
        return Outcome(state, events[np.argsort(events[:, 0], kind="stable")])

    def _borrow(self) -> Memory:
        with self._lock:
            memory = self._memories.pop() if self._memories else _new_memory(2048, 2**16)
        if memory.used[0] > REMEMBERED or memory.used[1] > REMEMBERED_BYTES:
            return _new_memory(2048, 2**16)
        return memory

    def _pass(
        self,
        data: npt.NDArray[np.uint8],
        tape: Tape,
        texts: npt.NDArray[np.int64],
        roots: npt.NDArray[np.int64],
        room: k.Room,
        memory: Memory,
        state: npt.NDArray[np.uint8],
    ) -> tuple[k.Room, Memory]:
        """Run over all texts once, with more room each time the kernel asks for it."""
        compiled, begin = self.compiled, 0
        while True:
            begin = int(
                k.check_values(
                    texts, roots, begin, data, tape, room, compiled.program, compiled.constant_bytes,
                    compiled.constants, memory, state,
                )
            )  # fmt: skip
            if begin == texts.size:
                return room, memory
            room = _larger_room(room)
            longest = int((tape.end[tape.first[texts[begin]]] - tape.start[tape.first[texts[begin]]]).item())
            memory = _larger_memory(memory, longest)

    def _answer(self, memory: Memory) -> None:
        """Ask the checks about every string that is new."""
        used = int(memory.used[0])
        checks = self.compiled.checks
        for number in np.flatnonzero(memory.verdict[:used] == UNSURE):
            raw = memory.bytes[memory.begin[number] : memory.end[number]].tobytes()
            text = json.loads(b'"%b"' % raw) if b"\\" in raw else raw.decode()
            memory.verdict[number] = YES if checks[memory.check[number]](text) else NO


def _new_room(compiled: Compiled, data: npt.NDArray[np.uint8], tape: Tape) -> k.Room:
    roots = tape.first[:-1][tape.first[1:] > tape.first[:-1]]
    longest = int((tape.end[roots] - tape.start[roots]).max()) if roots.size else 0
    longest = max(longest, int(compiled.constant_bytes.size))
    return k.Room(
        np.zeros(8, np.int64),
        np.empty((1024, 2), np.int64),
        np.empty((64, 7), np.int64),
        np.zeros(compiled.n_seen, np.int64),
        np.zeros((2, longest + 2 * PADDING), np.uint8),
        np.empty((4096, 4), np.int64),
    )


def _larger_room(room: k.Room) -> k.Room:
    """Twice the room; the events so far are kept."""
    events = np.empty((2 * room.events.shape[0], 4), np.int64)
    events[: room.events.shape[0]] = room.events
    return room._replace(
        work=np.empty((2 * room.work.shape[0], 2), np.int64),
        frames=np.empty((2 * room.frames.shape[0], 7), np.int64),
        events=events,
    )


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
