"""Labelled frames for training, made on demand.

    frames = Frames(sim, lambda rng: {"misset": random_misset(seed=rng)}, background=2.0)
    frames[0]["counts"], frames[0]["labels"], frames[0]["spots"].miller_index
"""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import operator
import queue
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core, labels
from ._arrays import doubles
from .simulator import Simulator

Draw = Callable[[numpy.random.Generator], Mapping[str, Any]]
Array = NDArray[numpy.int32]


class _Background:
    """The means of a background, tabulated in steps of 0.03, or in 1024 steps. A pixel's count is
    the sum of two: one is drawn for the next lower mean in the table, the other for the rest of the
    mean and the light."""

    LARGEST = 200.0  # mean; beyond it NumPy is as fast
    _SPACING, _MOST = 0.03, 1024

    def __init__(self, means: NDArray[numpy.float64]) -> None:
        lowest, highest = float(means.min()), float(means.max())
        count = min(int((highest - lowest) / self._SPACING) + 1, self._MOST)
        self._levels = lowest + numpy.arange(count) * ((highest - lowest) / count)
        numbers = numpy.searchsorted(self._levels, means, side="right") - 1
        self._rest = means - self._levels[numbers]
        self._numbers = numbers.astype(numpy.uint16).reshape(-1) if count > 1 else numpy.empty(0, numpy.uint16)
        self._tables: _core.PoissonTables | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tables": None}

    @staticmethod
    def _cumulative(mean: float) -> list[float]:
        """The probability of a Poisson number up to 0, 1, 2, ..."""
        if mean == 0:
            return [1.0]
        terms = numpy.log(mean) - numpy.log(numpy.arange(1.0, mean + 40 * mean**0.5 + 60))
        return numpy.cumsum(numpy.exp(numpy.concatenate([[0.0], numpy.cumsum(terms)]) - mean)).tolist()

    def count(self, counts: Array, light: NDArray[numpy.float64], seed: int) -> None:
        """Draws counts of the background and of light, which it changes."""
        if self._tables is None:
            self._tables = _core.PoissonTables([self._cumulative(mean) for mean in self._levels.tolist()])
        if self._rest.any():
            light += self._rest
        self._tables.draw_counts(counts.reshape(-1), light.reshape(-1), self._numbers, seed)


def _references(arrays: list[Array]) -> int:
    """References to the first array, as ``_Pool.take`` sees them."""
    for array in arrays:
        return sys.getrefcount(array)
    return 0


class _Pool:
    """Arrays of one shape. One that is not referred to any more is used again, since fresh memory
    costs more than a frame's noise."""

    _MOST, _FREE = 64, _references([numpy.empty(1, numpy.int32)])

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape, self._arrays = shape, list[Array]()

    def take(self) -> Array:
        for array in self._arrays:
            if sys.getrefcount(array) == self._FREE:
                return array
        array = numpy.empty(self._shape, numpy.int32)
        if len(self._arrays) < self._MOST:
            self._arrays.append(array)
        return array


class Frames:
    """Labelled frames: ``frames[i]`` makes frame i, and a loop makes them in order, ``count``
    frames or endlessly.

    A frame is a dict: ``counts`` (int32), ``labels`` and ``spots`` as in ``Simulator.spots``,
    ``parameters``. Frame i of a seed is always the same. sim: a simulator with the numbers that all
    frames share; it is copied. draw: a function of a random generator that returns the parameters
    of a frame, in SI units. background: photons per pixel that are added, one number or an array.
    least: a pixel is labelled if it has at least this many photons of Bragg light. threads: number
    of threads that make the frames of a loop in advance; each calls ``draw`` and has a copy of the
    simulator, which should have threads=1. batch: a loop then yields dicts of that many frames,
    made without a copy: arrays have a leading axis of frames, and ``spots`` is a list. The last
    batch of ``count`` frames may be smaller.
    """

    def __init__(self, sim: Simulator, draw: Draw, *, seed: int = 0, count: int | None = None, background: Any = 0.0,
                 least: float = 0.5, threads: int = 1, batch: int | None = None) -> None:
        if not callable(draw):
            raise TypeError(f"draw is {draw!r}; it has to be a function of a random generator that returns the parameters of a frame")
        for what, given in (("threads", threads), ("batch", 1 if batch is None else batch)):
            if not isinstance(given, (int, numpy.integer)) or given < 1:
                raise ValueError(f"{what} is {given!r}; it has to be an integer of at least 1")
        if "dead_time" in sim.parameters and sim["dead_time"] > 0:
            raise ValueError(f"the detector's dead_time is {sim['dead_time']:g} s, and its counts are not Poisson-distributed; leave it out")
        self.sim, self.draw, self.seed, self.count, self.least = sim.copy(), draw, seed, count, least
        self.threads, self.batch = threads, batch
        self.background = doubles(background, "background")
        if self.background.shape not in ((), sim.shape) or not (self.background >= 0).all():
            raise ValueError(f"background has to be a number of at least 0, or an array of such numbers in the image's shape {sim.shape}")
        self._background = _Background(self.background) if self.background.max() <= _Background.LARGEST else None
        self._light, self._pool, self._batches = numpy.empty(sim.shape), _Pool(sim.shape), _Pool((batch or 1, *sim.shape))

    def drawn(self, number: int) -> tuple[numpy.random.Generator, dict[str, Any]]:
        """A frame's random generator and its parameters. Sets the parameters of the simulator."""
        try:
            number = operator.index(number)
        except TypeError:
            raise TypeError(f"a frame has a whole number, not {number!r}") from None
        if number < 0 or (self.count is not None and number >= self.count):
            raise IndexError(f"there is no frame {number}; frames are counted from 0")
        rng = numpy.random.default_rng((self.seed, number))
        parameters = self.draw(rng)
        if not isinstance(parameters, Mapping):
            raise TypeError(f"draw returned {parameters!r}; it has to return the parameters of a frame as a dict")
        parameters = dict(parameters)
        self.sim.set(**parameters)
        return rng, parameters

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self._made(number, self._pool.take(), self._pool.take())

    def _made(self, number: int, counts: Array, labelled: Array) -> dict[str, Any]:
        rng, parameters = self.drawn(number)
        light = self.sim.image(out=self._light)
        spots = labels.spots(self.sim, self.least, light, labelled)
        if self._background is None:
            counts[...] = rng.poisson(light + self.background)
        else:
            self._background.count(counts, light, int(rng.integers(2**63)))
        return {"counts": counts, "labels": labelled, "spots": spots, "parameters": parameters}

    def __len__(self) -> int:
        """How many frames, or batches, a loop has."""
        if self.count is None:
            raise TypeError("these frames have no end; give Frames a count")
        return -(-self.count // (self.batch or 1))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.these(self.numbers(0, 1))

    def numbers(self, index: int, count: int) -> Iterable[int]:
        """The number of every ``count``-th frame, or batch, from ``index`` on."""
        return itertools.count(index, count) if self.count is None else range(index, len(self), count)

    def members(self, number: int) -> range:
        """The numbers of the frames of a batch."""
        size = self.batch or 1
        end = (number + 1) * size
        return range(number * size, end if self.count is None else min(end, self.count))

    def _item(self, number: int) -> dict[str, Any]:
        """The frame, or the batch, of a loop."""
        if self.batch is None:
            return self[number]
        members = self.members(number)
        counts, labelled = (self._batches.take()[:len(members)] for _ in range(2))
        frames = [self._made(*row) for row in zip(members, counts, labelled)]
        return {"counts": counts, "labels": labelled, "spots": [frame["spots"] for frame in frames],
                "parameters": {name: numpy.stack([frame["parameters"][name] for frame in frames]) for name in frames[0]["parameters"]}}

    def these(self, numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The frames, or batches, of these numbers, made by ``threads`` threads."""
        if self.threads == 1:
            yield from map(self._item, numbers)
            return
        makers = queue.SimpleQueue[Frames]()
        for _ in range(self.threads):
            makers.put(Frames(self.sim, self.draw, seed=self.seed, count=self.count, background=self.background, least=self.least,
                              batch=self.batch))

        def make(number: int) -> dict[str, Any]:
            maker = makers.get()
            try:
                return maker._item(number)
            finally:
                makers.put(maker)

        ahead: collections.deque[concurrent.futures.Future[dict[str, Any]]] = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            for number in numbers:
                ahead.append(pool.submit(make, number))
                if len(ahead) > (2 * self.threads if self.batch is None else self.threads):
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
