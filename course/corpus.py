"""The corpus of the demo: text files of an invented archive, each with one fact of its own.

A file is plain prose from a small grammar, and one line `Fact: …` at a varying place, that no other file has. Paths are
50 to 60 characters long: long names are what fills a summary's list of finished work.
"""

from __future__ import annotations

import random
from pathlib import Path

MIN_CHARACTERS, MAX_CHARACTERS = 1_500, 2_600
MIN_PATH, MAX_PATH = 50, 60

FOLDERS = (
    "archive/northern-district",
    "archive/southern-coastland",
    "archive/eastern-highlands",
    "archive/western-riverbanks",
    "archive/central-provinces",
)
RECORDS = (
    "depot-inspection",
    "harbour-survey",
    "bridge-repairs",
    "granary-inventory",
    "railway-timetable",
    "lighthouse-log",
    "school-register",
    "market-accounts",
    "quarry-report",
    "mill-valuation",
    "ferry-schedule",
    "hospital-ledger",
)
SYLLABLES = ("qua", "ves", "mor", "tel", "bra", "lin", "dor", "hal", "wen", "sta", "gri", "nor", "fel", "ost")
ENDINGS = ("rn", "by", "ford", "wick", "ton", "mere", "holm", "gate", "stead", "dale")
GOODS = (
    "barrels of lamp oil",
    "sacks of barley",
    "coils of tarred rope",
    "crates of window glass",
    "bolts of sailcloth",
    "tons of pit coal",
    "cases of brass fittings",
    "bundles of roof slate",
    "casks of salted herring",
    "bales of raw wool",
)
PEOPLE = ("the clerk", "the surveyor", "the warden", "the paymaster", "the foreman", "the deputy", "the carter")
SURNAMES = ("Aldous", "Brandt", "Carrow", "Delane", "Eames", "Fenwick", "Garrod", "Hollis", "Ibbot", "Jessop", "Kerr")
PLACES = ("the east wing", "the lower yard", "the old weighhouse", "the customs shed", "the upper road", "the quay")
SEASONS = ("in early spring", "after the thaw", "during the harvest", "before the first frost", "in a wet summer")
STATES = ("in good order", "damp along one wall", "newly painted", "short of lamps", "swept and locked", "half empty")
ACTS = ("counted", "weighed", "moved", "signed for", "inspected twice", "set aside", "entered in the day book")
CAUSES = (
    "the road had been closed by a slip",
    "two of the scales did not agree",
    "the key had been left at {town}",
    "the wind stood against the ferry",
    "nobody had paid the toll",
    "the ledger of the year before was missing",
)
SENTENCES = (
    "{person} and a helper named {name} walked through {place} {season} and found it {state}.",
    "Most of the {goods} had been {act} by the time the party from {town} arrived.",
    "Because {cause}, the visit was put off for {days} days.",
    "{name} asked whether {place} could be kept open longer, and {person} promised an answer by letter.",
    "A note in the margin says that {place} was {state} when {name} last held the key.",
    "Of the {goods}, a small part was {act} and sent on to {town}.",
    "{person} remarked that {cause}, which {name} would not confirm.",
    "The journey from {town} took {days} hours, and the horses were rested at {place}.",
    "It was agreed that {name} should write to {town} about the {goods}.",
    "For {days} days the books were kept by {name}, since {person} had fallen ill {season}.",
    "Nothing was said about {place}, although {person} had complained of it {season}.",
    "The visitors left {place} as they had found it, {state}, and thanked {name} for the tea.",
    "A copy of this record lies at {town}, where {person} keeps it with the other papers.",
    "{name} measured {place} with a chain and wrote down {days} paces.",
    "In the end the {goods} were {act}, though {cause}.",
)
FACTS = (
    "{name} signed for {number} {goods} under seal {seal} at {town}.",
    "the store at {town} held {number} {goods}, sealed as number {seal}.",
    "{number} {goods} left {town} with {name}, receipt {seal}.",
    "entry {seal} gives {number} {goods} to {name} of {town}.",
)


def make_corpus(folder: Path, files: int = 40, seed: int = 7) -> None:
    """Write `files` text files of 1,500 to 2,600 characters below `folder`; the same numbers give the same bytes.

    Works for some thousands of files; ValueError below zero. Files that are there already and bear a name of the corpus
    are written over, all others stay.
    """
    if files < 0:
        raise ValueError(f"a corpus of {files} files cannot be made")
    draw = random.Random(seed)
    seals = draw.sample(range(10_000, 100_000), files)
    taken: set[str] = set()
    for seal in seals:
        record, year, town, path = _new_path(draw, taken)
        taken.add(path)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_text(draw, record, year, town, seal).encode())


def _new_path(draw: random.Random, taken: set[str]) -> tuple[str, int, str, str]:
    """A record, a year, a town, and the path that they make, which is long enough and not taken."""
    while True:
        record, year = draw.choice(RECORDS), draw.randrange(1820, 1900)
        town = _town(draw)
        path = f"{draw.choice(FOLDERS)}/{record}-{year}-{town.lower()}.md"
        if MIN_PATH <= len(path) <= MAX_PATH and path not in taken:
            return record, year, town, path


def _town(draw: random.Random) -> str:
    """The name of an invented town."""
    return ("".join(draw.sample(SYLLABLES, draw.choice((1, 2)))) + draw.choice(ENDINGS)).capitalize()


def _text(draw: random.Random, record: str, year: int, town: str, seal: int) -> str:
    """A record: a title, paragraphs, and the line with the fact before, between or behind them."""
    title = f"# {record.replace('-', ' ').capitalize()} at {town}, {year}"
    fact = f"Fact: {_fill(draw, draw.choice(FACTS), number=draw.randrange(12, 900), seal=seal, town=town)}"
    paragraphs: list[str] = []
    wanted = draw.randrange(MIN_CHARACTERS, MAX_CHARACTERS - 600)
    while sum(map(len, [title, fact, *paragraphs])) < wanted:
        chosen = draw.sample(SENTENCES, draw.randrange(2, 5))
        paragraphs.append(" ".join(_fill(draw, sentence) for sentence in chosen))
    paragraphs.insert(draw.randrange(len(paragraphs) + 1), fact)
    return "\n\n".join([title, *paragraphs]) + "\n"


def _fill(draw: random.Random, sentence: str, **given: object) -> str:
    """The sentence with its slots filled, those of `given` first, and a capital in front."""
    slots: dict[str, object] = {
        "person": draw.choice(PEOPLE),
        "name": f"{draw.choice('ABCDEFGHJKLMNPRSTW')}. {draw.choice(SURNAMES)}",
        "place": draw.choice(PLACES),
        "season": draw.choice(SEASONS),
        "state": draw.choice(STATES),
        "goods": draw.choice(GOODS),
        "act": draw.choice(ACTS),
        "days": draw.randrange(2, 30),
        "town": _town(draw),
    }
    slots["cause"] = draw.choice(CAUSES).format(town=slots["town"])
    filled = sentence.format(**{**slots, **given})
    return filled[0].upper() + filled[1:]
