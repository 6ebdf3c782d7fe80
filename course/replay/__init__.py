"""A run to show without running it: one HTML file for talks and hand-outs, and the pictures of a run as PNG."""

from course.replay.pngs import write_pngs
from course.replay.talk import write_talk

__all__ = ["write_pngs", "write_talk"]
