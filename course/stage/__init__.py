"""The live demo in a notebook: `Stage()` shows runs event by event, with a control for everything that a class asks."""

from course.stage.stage import Stage

__all__ = ["Stage"]
