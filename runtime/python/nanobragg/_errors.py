"""What can go wrong, and sentences about it."""

from . import _core

FlagError = _core.FlagError
FileError = _core.FileError
UnknownName = _core.UnknownName


class Warning(UserWarning):  # noqa: A001: nanobragg.Warning
    """What nb-sim prints as a warning."""


def unknown(kind, name, candidates):
    """A sentence about a name that is none of the candidates, with the closest of them."""
    candidates = list(candidates)
    closest = _core.closest_word(name, candidates)
    return f"{kind} has no '{name}'; the closest is '{closest}'" if closest else f"{kind} has no '{name}'"
