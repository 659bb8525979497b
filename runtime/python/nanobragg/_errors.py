"""Errors and warnings, and sentences about them."""

from collections.abc import Iterable
from typing import Any

from . import _core

FlagError = _core.FlagError
FileError = _core.FileError
UnknownName = _core.UnknownName


class Warning(UserWarning):  # nanobragg.Warning
    """A warning of nb-sim."""


class Rejected(Exception):
    """The reason, in one sentence, why an image cannot be indexed or refined."""


#: Errors of an image that cannot be used, and those that damaged data may raise if no reader has
#: found the damage.
DATA_ERRORS = (Rejected, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError, MemoryError, OSError)


def printable(text: str) -> str:
    """The text in one line that a terminal only prints: other characters are ?, and the middle of a
    long one is left out."""
    text = "".join(c if c.isprintable() else "?" for c in str(text))
    return text if len(text) <= 1000 else f"{text[:600]} ... {text[-300:]}"


def reason(error):
    """The reason as a sentence: the text of our own errors; for others also the type."""
    own = isinstance(error, (FileError, FlagError, Rejected)) or type(error) is ValueError
    return printable(error if own else f"its data are invalid ({type(error).__name__}: {error})")


def unknown(kind: str, name: Any, candidates: Iterable[str]) -> str:
    """A sentence about a name that is none of the candidates, with the closest of them."""
    candidates = list(candidates)
    closest = _core.closest_word(name, candidates)
    return f"{kind} has no '{name}'; the closest is '{closest}'" if closest else f"{kind} has no '{name}'"
