"""Small generators of JSON text: words, dates, names. Hand-made text, because a million objects through an encoder would take minutes."""

from random import Random

_TEXT = (
    "please check the order again because customer says parcel never arrived although tracking shows delivered on "
    "Monday morning and invoice number was changed twice by café staff before refund could reach their account "
    "naïve estimate of delay is about three days however weather near the coast may add more"
)
_WORDS = _TEXT.split(" ")
_NAMES = ("Ada Okafor", "Jonas Weiß", "Mei Lin", "Priya Nair", "Luis Peña", "Sara Haddad", "Tom Berg", "Zoë Clark")


def words(rng: Random, count: int) -> str:
    """``count`` words with single spaces; contents of a JSON string, so one in thirty blanks is a line break.

    Example:
        >>> len(words(Random(1), 5).split(" ")) in (4, 5)
        True
    """
    start = rng.randrange(len(_WORDS))
    text = " ".join([_WORDS[(start + step * 7) % len(_WORDS)] for step in range(count)])
    return text.replace(" ", "\\n", 1) if rng.random() < count / 30 else text


def name(rng: Random) -> str:
    """A person's name, some of it outside ASCII."""
    return _NAMES[int(rng.random() * 8)]


def date(rng: Random) -> str:
    """A calendar date of 2026."""
    number = int(rng.random() * 336)
    return f"2026-{number // 28 + 1:02d}-{number % 28 + 1:02d}"


def airport(rng: Random) -> str:
    """Three capital letters."""
    number = int(rng.random() * 17576)
    return chr(65 + number // 676) + chr(65 + number // 26 % 26) + chr(65 + number % 26)


def money(rng: Random) -> str:
    """An amount with two decimals, as JSON text."""
    return f"{int(rng.random() * 9000) + 10}.{int(rng.random() * 90) + 10}"
