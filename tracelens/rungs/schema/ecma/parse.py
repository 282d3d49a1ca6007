r"""Reading a regular expression of ECMA-262 in unicode mode.

Of the older syntax that browsers still accept, what cannot be misread is accepted too: an escaped punctuation
character (``\@``), a brace or bracket that closes nothing, a hyphen beside a class (``[\w-.]``). An escaped letter
without a meaning (``\Z``, ``\A``, ``\a``) is an error: whoever wrote it meant another dialect's anchor.
"""

from __future__ import annotations

from functools import lru_cache

from tracelens.rungs.schema.ecma.syntax import (
    DIGITS,
    LAST_POINT,
    LINE_ENDS,
    SPACE,
    WORD,
    Back,
    Char,
    CharSet,
    Choice,
    Edge,
    Group,
    Look,
    Node,
    PatternError,
    Property,
    Repeat,
    Sequence,
    complement,
)

_CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}
_HEX = frozenset("0123456789abcdefABCDEF")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_MOST = 65_535


@lru_cache(maxsize=1024)
def parse(pattern: str) -> Node:
    r"""The tree of a pattern.

    Args:
        pattern: The text between the slashes.

    Returns:
        The tree.

    Raises:
        PatternError: The text is no regular expression of ECMA-262.

    Example:
        >>> parse("^a$").parts
        (Edge(kind='start'), Char(point=97), Edge(kind='end'))
        >>> parse(r"abc\Z")
        Traceback (most recent call last):
        tracelens.rungs.schema.ecma.syntax.PatternError: '\Z' means nothing in ECMA-262, at position 3
    """
    reader = _Reader(pattern)
    node = reader.choice()
    if reader.at < len(pattern):
        raise reader.error("a group is closed that was not opened")
    reader.resolve_names()
    return node


class _Reader:
    """A recursive-descent reader; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0
        self.names: dict[str, int] = {}
        self.depth = 0
        self.numbered_backs: list[tuple[int, int]] = []
        # Names may be used before they are given, so groups are counted in a first look over the text.
        self.total, self.all_names = _count_groups(text)

    def error(self, message: str, at: int | None = None) -> PatternError:
        return PatternError(f"{message}, at position {self.at if at is None else at}")

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.text[place] if place < len(self.text) else ""

    def take(self, prefix: str) -> bool:
        if self.text.startswith(prefix, self.at):
            self.at += len(prefix)
            return True
        return False

    def resolve_names(self) -> None:
        for number, at in self.numbered_backs:
            if number > self.groups:
                raise self.error(f"there is no group {number}", at)

    def choice(self) -> Node:
        self.depth += 1
        if self.depth > 100:
            raise self.error("groups are nested too deeply")
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.term())
        return Sequence(tuple(parts))

    def term(self) -> Node:
        start = self.at
        node = self.atom()
        quantifier = self.quantifier()
        if quantifier is None:
            return node
        if isinstance(node, (Edge, Look)):
            raise self.error("nothing to repeat", start)
        least, most = quantifier
        if most is not None and most < least:
            raise self.error("the numbers of a quantifier are out of order", start)
        return Repeat(node, least, most, not self.take("?"))

    def quantifier(self) -> tuple[int, int | None] | None:
        for mark, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(mark):
                return bounds
        found = self.braces()
        if found is None:
            return None
        least, most, after = found
        self.at = after
        return least, most

    def braces(self) -> tuple[int, int | None, int] | None:
        """The bounds of ``{n}``, ``{n,}`` or ``{n,m}`` here and the position after it; None where there is none."""
        if self.peek() != "{":
            return None
        close = self.text.find("}", self.at)
        inner = self.text[self.at + 1 : close] if close >= 0 else ""
        low, comma, high = inner.partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            return None
        least = min(int(low), _MOST)
        most = least if not comma else (min(int(high), _MOST) if high else None)
        return least, most, close + 1

    def atom(self) -> Node:
        c = self.peek()
        if c in "*+?" or (c == "{" and self.braces() is not None):
            raise self.error("nothing to repeat")
        if c == "\\":
            return self.escape()
        self.at += 1
        if c == "^":
            return Edge("start")
        if c == "$":
            return Edge("end")
        if c == ".":
            return CharSet(complement(LINE_ENDS))
        if c == "[":
            return self.char_class()
        if c == "(":
            return self.group()
        return Char(ord(c))

    def group(self) -> Node:
        start = self.at - 1
        node: Node
        if self.take("?:"):
            node = self.choice()
        elif self.take("?="):
            node = Look(self.choice(), behind=False, negated=False)
        elif self.take("?!"):
            node = Look(self.choice(), behind=False, negated=True)
        elif self.take("?<="):
            node = Look(self.choice(), behind=True, negated=False)
        elif self.take("?<!"):
            node = Look(self.choice(), behind=True, negated=True)
        else:
            if self.take("?<"):
                self.name(start)
            elif self.peek() == "?":
                raise self.error("'(?' begins nothing that ECMA-262 knows", start)
            self.groups += 1
            number = self.groups
            node = Group(self.choice(), number)
        if not self.take(")"):
            raise self.error("a group is not closed", start)
        return node

    def name(self, start: int) -> None:
        close = self.text.find(">", self.at)
        name = self.text[self.at : close] if close >= 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise self.error("a group's name is no identifier", start)
        if name in self.names:
            raise self.error(f"two groups are named {name!r}", start)
        self.names[name] = self.groups + 1
        self.at = close + 1

    def escape(self) -> Node:
        start = self.at
        c = self.peek(1)
        if c in ("b", "B"):
            self.at += 2
            return Edge("word" if c == "b" else "inside")
        if c == "k":
            return self.named_back(start)
        if c in "123456789" and c:
            self.at += 1
            number = int(self.digits())
            self.numbered_backs.append((number, start))
            return Back(number)
        found = self.class_escape()
        if found is not None:
            return found
        return Char(self.character_escape())

    def named_back(self, start: int) -> Node:
        close = self.text.find(">", self.at)
        name = self.text[self.at + 3 : close] if close >= 0 and self.peek(2) == "<" else ""
        if name not in self.all_names:
            raise self.error(f"there is no group named {name!r}", start)
        self.at = close + 1
        return Back(self.all_names[name])

    def digits(self) -> str:
        start = self.at
        while self.peek() and self.peek() in "0123456789":
            self.at += 1
        return self.text[start : self.at]

    def class_escape(self) -> CharSet | None:
        r"""``\d``, ``\W``, ``\p{...}`` and their like; None where the escape is another."""
        c = self.peek(1)
        if c and c in "dDwWsS":
            self.at += 2
            ranges = _CLASSES[c.lower()]
            return CharSet(ranges if c.islower() else complement(ranges))
        if c and c in "pP":
            start = self.at
            close = self.text.find("}", self.at)
            name = self.text[self.at + 3 : close] if close >= 0 and self.peek(2) == "{" else ""
            if not _is_property(name):
                raise self.error(f"{name!r} is no Unicode property", start)
            self.at = close + 1
            return CharSet((), (Property(name, c == "P"),))
        return None

    def character_escape(self) -> int:
        """The code point of an escape that stands for one character."""
        start = self.at
        c = self.peek(1)
        self.at += 2
        if c in _CONTROLS:
            return _CONTROLS[c]
        if c == "0" and not self.peek().isdecimal():
            return 0
        if c == "c" and self.peek() in _LETTERS:
            self.at += 1
            return ord(self.text[self.at - 1]) % 32
        if c == "x":
            return self.hexadecimal(2, start)
        if c == "u":
            return self.unicode_escape(start)
        if c == "" or (c.isascii() and (c.isalnum())):
            raise self.error(f"'\\{c}' means nothing in ECMA-262" if c else "a backslash ends the pattern", start)
        return ord(c)

    def unicode_escape(self, start: int) -> int:
        if self.take("{"):
            close = self.text.find("}", self.at)
            inner = self.text[self.at : close] if close >= 0 else ""
            if not inner or not set(inner) <= _HEX or int(inner, 16) > LAST_POINT:
                raise self.error("a bad code point", start)
            self.at = close + 1
            return int(inner, 16)
        point = self.hexadecimal(4, start)
        low = self.text[self.at + 2 : self.at + 6]
        if 0xD800 <= point < 0xDC00 and self.peek() == "\\" and self.peek(1) == "u" and _is_hex(low, 4):
            second = int(low, 16)
            if 0xDC00 <= second <= 0xDFFF:
                self.at += 6
                return 0x10000 + ((point - 0xD800) << 10) + (second - 0xDC00)
        return point

    def hexadecimal(self, length: int, start: int) -> int:
        digits = self.text[self.at : self.at + length]
        if not _is_hex(digits, length):
            raise self.error(f"{length} hexadecimal digits are expected", start)
        self.at += length
        return int(digits, 16)

    def char_class(self) -> CharSet:
        start = self.at - 1
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        properties: list[Property] = []
        while not self.take("]"):
            if not self.peek():
                raise self.error("a class is not closed", start)
            low = self.class_atom()
            if isinstance(low, int) and self.peek() == "-" and self.peek(1) not in ("]", ""):
                before = self.at
                self.at += 1
                high = self.class_atom()
                if isinstance(high, int):
                    if high < low:
                        raise self.error("the ends of a range are out of order", before)
                    ranges.append((low, high))
                    continue
                # A class cannot end a range, so the hyphen is itself.
                ranges.extend([(low, low), (45, 45), *high.ranges])
                properties.extend(high.properties)
            elif isinstance(low, int):
                ranges.append((low, low))
            else:
                ranges.extend(low.ranges)
                properties.extend(low.properties)
        return CharSet(tuple(ranges), tuple(properties), negated)

    def class_atom(self) -> int | CharSet:
        c = self.peek()
        if c != "\\":
            self.at += 1
            return ord(c)
        if self.peek(1) == "b":
            self.at += 2
            return 8
        return self.class_escape() or self.character_escape()


def _count_groups(text: str) -> tuple[int, dict[str, int]]:
    """The number of capturing groups, and the numbers of the named ones."""
    count, at, in_class = 0, 0, False
    names: dict[str, int] = {}
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c == "[":
            in_class = True
        elif c == "]":
            in_class = False
        elif c == "(" and not in_class:
            named = text.startswith("?<", at + 1) and text[at + 3 : at + 4] not in ("=", "!")
            if named or text[at + 1 : at + 2] != "?":
                count += 1
            if named:
                names[text[at + 3 :].partition(">")[0]] = count
        at += 1
    return count, names


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _is_hex(text: str, length: int) -> bool:
    return len(text) == length and set(text) <= _HEX


def _is_property(name: str) -> bool:
    r"""Whether ``\p{name}`` is known; names are those of Unicode (``Letter``, ``Lu``, ``Script=Greek``)."""
    import regex

    if not all(part and part.replace("_", "a").isalnum() and part.isascii() for part in name.split("=")):
        return False
    try:
        regex.compile(rf"\p{{{name}}}")
    except regex.error:
        return False
    return True
