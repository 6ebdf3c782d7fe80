"""A strict provider that needs no key and no network: a real HTTP server, spoken to by the real `openai` client."""

from course.provider.desk import Exchange
from course.provider.faults import Fault
from course.provider.models import Model, default_models
from course.provider.server import PortInUseError, Provider, serve

__all__ = ["Exchange", "Fault", "Model", "PortInUseError", "Provider", "default_models", "serve"]
