"""A run made ready to be shown: every picture is drawn before the first is seen, so going back costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.replay.picture import picture
from course.replay.pieces import Pieces, text
from course.replay.scene import scenes
from course.timeline import Timeline


@dataclass(frozen=True)
class Show:
    """The pictures of a run in pieces, the request that each belongs to, and the places that a talk jumps to."""

    name: str
    pictures: list[Pieces]
    calls: list[int]
    moments: frozenset[int]
    sentence: str = ""

    def html(self, place: int, named: bool) -> str:
        """The picture at a place; behind the end the last one, and of a run without events the sentence."""
        title = f'<h2 class="cc-title">{text(self.name)}</h2>' if named else ""
        if not self.pictures:
            return f'{title}<div class="cc-picture"><p class="cc-say cc-stuck">{text(self.sentence)}</p></div>'
        shown = "".join(self.pictures[min(place, len(self.pictures) - 1)])
        said = f'<p class="cc-said">{text(self.sentence)}</p>' if self.sentence else ""
        return title + said + shown


def make_show(name: str, timeline: Timeline, sentence: str = "") -> Show:
    """The show of a timeline; `sentence` says why it is not whole."""
    shown = list(scenes(timeline))
    moments = frozenset(place for place, scene in enumerate(shown) if scene.is_moment)
    drawn = [picture(timeline, scene) for scene in shown]
    return Show(name, drawn, [scene.call for scene in shown], moments, sentence or ("" if shown else "No events."))


def walk(shows: Sequence[Show]) -> list[tuple[int, ...]]:
    """For each step of several runs side by side the place in each: requests of one number are shown together.

    Every event of every run is met. Where a run has fewer events in a request than another, its last one stays.
    """
    last = max((call for show in shows for call in show.calls), default=0)
    places, steps = [0] * len(shows), []
    for call in range(last + 1):
        ranges = [[place for place, one in enumerate(show.calls) if one == call] for show in shows]
        for step in range(max(map(len, ranges))):
            places = [of[min(step, len(of) - 1)] if of else old for of, old in zip(ranges, places, strict=True)]
            steps.append(tuple(places))
    return steps or [tuple(places)]


def next_moment(shows: Sequence[Show], steps: Sequence[tuple[int, ...]], place: int, direction: int) -> int:
    """The next step, forward (+1) or back (-1), at which one of the runs comes to a moment; else the first or last."""
    place += direction
    while 0 < place < len(steps) - 1:
        both = zip(shows, steps[place], steps[place - 1], strict=True)
        if any(new in show.moments and new != old for show, new, old in both):
            break
        place += direction
    return place
