"""Simulators by name, and snapshots of them, for frameworks that pass neither through their graphs.
"""

import collections
import itertools
import weakref
from typing import Any

from .function import Function

_simulators: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_snapshots: weakref.WeakValueDictionary[int, Function] = weakref.WeakValueDictionary()
_tokens = itertools.count(1)
_kept = 4  # snapshots of a simulator that changes between forward and backward


def handle_of(simulator):
    """A name by which ``simulator_of`` finds it while it lives."""
    _simulators[simulator._handle] = simulator
    return simulator._handle


def simulator_of(handle):
    simulator = _simulators.get(handle)
    if simulator is None:
        raise RuntimeError("the simulator of this image does not exist any more; keep a reference to it")
    return simulator


def snapshot(simulator, names, wrt=None, rows=None):
    """(token, Function) of the simulator as it is now; the same until it changes."""
    cache = simulator._functions
    if not isinstance(cache, collections.OrderedDict):
        cache = simulator._functions = collections.OrderedDict()
    key = (simulator._core.version, names, wrt, rows and tuple(array.tobytes() for array in rows))
    if key not in cache:
        token = next(_tokens)
        cache[key] = token, Function(simulator, names, wrt, rows)
        _snapshots[token] = cache[key][1]
        while len(cache) > max(_kept, 1):
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]


def find(token):
    """The Function of this token, or None."""
    return _snapshots.get(token)


def snapshot_of(token):
    function = find(token)
    if function is None:
        raise RuntimeError("the simulator was changed more than a few times, or deleted, between the image and its "
                           "derivative; compute the image again")
    return function


def describe(simulator, names):
    """((members, shape), ...): what each name stands for; members have one number each where there
    are several."""
    described = []
    for name in names:
        group, rows = simulator._core.members(name)
        rows = [r for r in rows if r[2]]
        if not rows:
            raise ValueError(f"'{name}' has no derivative")
        if group and any(tuple(r[1]) for r in rows):
            raise ValueError(f"the group '{name}' has '{next(r[0] for r in rows if tuple(r[1]))}', which is not one number: "
                             "name its members one by one")
        described.append((tuple(r[0] for r in rows), (len(rows),) if group else tuple(rows[0][1])))
    flat = [m for members, _ in described for m in members]
    for member in flat:
        if flat.count(member) > 1:
            raise ValueError(f"'{member}' is given twice, also as a member of a group")
    return tuple(described)
