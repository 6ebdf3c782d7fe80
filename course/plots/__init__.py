"""The pictures of the course, each a matplotlib figure made of a timeline or of messages. They are legible in grey."""

from course.plots.compare import compare
from course.plots.figure import Picture
from course.plots.strip import message_strip, strips
from course.plots.window import tokens_over_calls, window_over_calls

__all__ = ["Picture", "compare", "message_strip", "strips", "tokens_over_calls", "window_over_calls"]
