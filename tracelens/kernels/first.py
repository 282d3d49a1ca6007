"""The kernels of a first use, with their types: what a small example with every rung needs.

They are compiled ahead, several at once (`ahead`). Of an array stand here the letter and the bits of its values, its
dimensions where it has more than one, and ``!`` where it is read only; ``int`` and ``uint`` are words. Anything else is
a named tuple by its module and name, whose members `TUPLES` tells.
"""

from __future__ import annotations

FIRST: dict[str, str] = {
    "check.check_values": "int int i64 i64 int u8",
    "project.project": "u8 i64 i64 int project.Trie project.Rows project.Scratch i64:2",
    "canonical.digest_values": "u8 shred.Tape b1 i32 digest.RuleTrie int i32 u8 i64:2 digest.Opened digest.Found",
    "shred.shred_texts": "u8 i64 i64 b1 shred.Tape u8 u64 int u8 i64 b1",
    "differ.align_leaves": "differ.Side differ.Side digest.RuleTrie i64 i64 differ.Leaves differ.Leaves differ.Paths differ.Rows",
    "short.pair_short_units": "i64 i64:2 calls.Calls calls.Calls int short.Looks pairing.Pairings",
    "pairing.pair_rows": "i64:2 calls.Calls calls.Calls i64 i32 u8 i64 i64 i32 i32 u8 i64",
    "shown.write_texts": "u8 shred.Tape i32 u8 i64 u8 i32 u8 shown.Told u8 i64 u8",
    "windows.mark_texts": "u8 i64 windows.Look u8:2 u64",
    "sequence.sequence_scores": "i64:2 i32 i32",
    "multiset.multiset_scores": "i64:2 i32 i32 int",
    "align.align_short_units": "i64:2 i32 i32 u64 align.Steps",
    "align.is_short": "int int",
    "categories.note_codes": "i32! b1",
    "categories.renumber": "i32! i32 i32",
    "cells.look_up": "u8 u8 u8",
    "cells.take_texts": "u8 u8 i32 i32 i64 int u8 i64 b1",
    "cells.text_size": "u8 i32 i32 i64 int",
    "check_paths.path_sizes": "u8 shred.Tape i64 i64",
    "check_paths.write_paths": "u8 shred.Tape i64 i64 u8",
    "check_print.print_values": "u8 i64 i64 i64 u8",
    "check_print.printed_sizes": "u8 i64 i64 u8 i64 i64 i64",
    "digest.hash_rows": "u8 i64 u64 u64 u64",
    "digest.with_lone_member": "shred.Tape u64 b1",
    "distinct.enter_texts": "u8 i64 i64 i32 u8 i64 i64 u64 int i64",
    "hash.hash_key_bytes": "u8 int int",
    "loops.count_repeats": "i64 i64 i64 i8 i64 i32 i32 i32",
    "loops.first_equal": "i64 i64 u64 u64 i64",
    "loops.longest_runs": "i64 i64 i32 i32",
    "records.hash_records": "u8 i64 i64 u64:2",
    "records.newlines": "u8 int int",
    "records.split_lines": "u8 int int i64 i64",
    "seen.chain": "u64 u64 uint uint",
    "seen.look_up": "u64 u64 u64 u64 u64 u64! b1 u8",
    "sentences.add_sizes": "i64 i64 i32 i64",
    "sentences.append_texts": "u8 i64 i64 i32 i64 u8",
    "sentences.cut_long": "u8 i64 i64 int int i32",
    "shown.find_plain": "u8 shred.Tape i32 i64 u8 i64",
    "shred.count_values": "u8 i64 i64",
    "sizes.longest_text": "i64",
    "sizes.longest_value": "i64 i32 i32",
}
"""Types by kernel; those that take longest come first."""

TUPLES: dict[str, str] = {
    "align.Steps": "i64 i32 i32 i32 i32",
    "calls.Calls": "i32 u8 u64 u64 i64 i64 u64 i64 i64 i64",
    "differ.Leaves": "i64 u64 u64 i64 u8",
    "differ.Paths": "i32 u64 i64",
    "differ.Rows": "i64 i64 i64 u8 i32",
    "differ.Side": "shred.Tape i32 u64 u64",
    "digest.Found": "i32 u64 u64 i32 u8 u64 u64 i64 i64 u64",
    "digest.Opened": "i32 i32 i32 u64 u64",
    "digest.RuleTrie": "i32 u64 i32 i32 u8 u8 i32 u64 u64",
    "pairing.Pairings": "i64 i32:2 u8:2 i64:3 i64 b1",
    "project.Rows": "i64 i64 i64 i64 i64 i64 u8 i32 i32 i32 i32 u8",
    "project.Scratch": "i64 i64 i64 i64 i64 i64 u8 u8 i32",
    "project.Trie": "i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i64 i64 i64 u8 u8",
    "short.Looks": "u64 u64 i64 i64 i64",
    "shown.Told": "i64 i64 u8 i64",
    "shred.Tape": "i64 u8 u8 i32 i32 i32 i32 u64 i32 i32 i32 i32",
    "windows.Look": "u64 i32 i64:2 i32 u64 i32:2 u8:2",
}
"""Types of their members by named tuple."""
