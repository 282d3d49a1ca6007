"""The page is safe, needs nothing from anywhere, and can be read by everyone."""

import itertools
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from tests.report.conftest import EVIL
from tracelens.report import write_reports

VOID = {"meta", "link", "br", "img", "line", "circle", "rect", "polyline", "polygon", "input"}


class Outline(HTMLParser):
    """Elements with their attributes and parents, in the order of the page."""

    def __init__(self, page):
        super().__init__()
        self.open, self.found, self.texts = [], [], {}
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), [each for each, _ in self.open]))
        if tag not in VOID:
            self.open.append((tag, len(self.found) - 1))

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs), [each for each, _ in self.open]))

    def handle_endtag(self, tag):
        last, _ = self.open.pop()
        assert last == tag

    def handle_data(self, data):
        for _, number in self.open:
            self.texts[number] = self.texts.get(number, "") + data

    def all(self, *tags):
        return [(attrs, parents) for tag, attrs, parents in self.found if tag in tags]


@pytest.fixture(scope="module")
def made(whole, tmp_path_factory):
    to = tmp_path_factory.mktemp("page")
    write_reports(whole, html=to / "r.html", markdown=to / "r.md")
    return (to / "r.html").read_text(), (to / "r.md").read_text()


@pytest.fixture(scope="module")
def outline(made):
    return Outline(made[0])


def test_nothing_from_traces_is_markup(made, outline):
    page, text = made
    tags = {tag for tag, _, _ in outline.found}
    assert not tags & {"script", "img", "iframe", "object", "link", "b"} - {"b"}
    assert not [name for _, attrs, _ in outline.found for name in attrs if name.startswith("on")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;/td&gt;&lt;img src=x onerror=alert(2)&gt;" in page
    for evil in (EVIL["tool"], EVIL["agent"], EVIL["trace"]):
        assert evil not in page
        assert re.sub(r"`+[^`]*`+", "", text).find(evil) == -1
    assert "run\\u202e_evil\\x07" in page
    for each in made:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", each)


def test_it_needs_nothing_from_anywhere(made, outline):
    page, _ = made
    assert not re.findall(r"https?:|url\(|@import|src=(?!x)", page)
    assert all(attrs["href"].startswith("#") for attrs, _ in outline.all("a"))
    assert "default-src 'none'" in page


def test_landmarks_and_headings_are_in_order(outline):
    places = [tag for tag, _, _ in outline.found if tag in {"header", "nav", "main", "footer", "h1", "section"}]
    assert list(dict.fromkeys(places)) == ["header", "h1", "nav", "main", "section", "footer"]
    assert places.count("h1") == places.count("main") == 1
    levels = [int(tag[1]) for tag, _, _ in outline.found if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    titles = [outline.texts[number].strip() for number, (tag, *_) in enumerate(outline.found) if tag == "h2"]
    assert titles[:2] == ["What changed", "What to do"]
    assert outline.found[[tag for tag, *_ in outline.found].index("a")][1]["href"] == "#main"


def test_everything_has_a_name(outline):
    ids = [attrs["id"] for _, attrs, _ in outline.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    named = [attrs["aria-labelledby"] for _, attrs, _ in outline.found if "aria-labelledby" in attrs]
    links = [attrs["href"][1:] for attrs, _ in outline.all("a")]
    assert set(named) | set(links) <= set(ids)
    for attrs, _ in outline.all("svg"):
        assert attrs.get("aria-hidden") == "true" or (attrs["role"] == "img" and len(attrs["aria-label"]) > 20)
    assert len(outline.all("table")) == len(outline.all("caption")) > 8
    assert all(attrs["scope"] in {"row", "col"} for attrs, _ in outline.all("th"))
    assert all(attrs.get("tabindex") == "0" for attrs, _ in outline.all("div") if attrs.get("role") == "region")


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_can_be_read_in_light_and_dark():
    style = (files("tracelens.report") / "templates" / "report.css").read_text()
    schemes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]
    assert len(schemes) == 3
    for colours in schemes:
        for ink in ("ink", "soft", "blue", "bad", "good"):
            for ground in ("page", "panel"):
                light, dark = sorted((luminance(colours[ink]), luminance(colours[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground, colours)


def test_markdown_tables_keep_their_shape(made):
    lines = made[1].splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) > 40
    widths = [len(re.sub(r"\\\|", "", line).split("|")) for line in rows]
    starts = [number for number, line in enumerate(lines) if line.startswith("| ---")]
    assert starts
    for start in starts:
        at = start
        while at < len(lines) and lines[at].startswith("|"):
            assert len(re.sub(r"\\\|", "", lines[at]).split("|")) == len(lines[start].split("|"))
            at += 1
    assert min(widths) > 3
