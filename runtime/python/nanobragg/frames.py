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

_LARGEST = 200.0  # mean of a background whose counts are tabulated; beyond it NumPy is as fast


def cumulative(mean: float) -> NDArray[numpy.float64]:
    """The probability of a Poisson number up to 0, 1, 2, ..."""
    if mean == 0:
        return numpy.ones(1)
    terms = numpy.log(mean) - numpy.log(numpy.arange(1.0, mean + 40 * mean**0.5 + 60))
    return numpy.cumsum(numpy.exp(numpy.concatenate([[0.0], numpy.cumsum(terms)]) - mean))


def _references(arrays: list[Array]) -> int:
    """References to the first array, as ``_Pool.take`` sees them."""
    for array in arrays:
        return sys.getrefcount(array)
    return 0


class _Pool:
    """Arrays of a frame's shape. One that is not referred to any more is used again, since fresh
    memory costs more than a frame's noise."""

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
    frames share; it is copied. draw: the parameters of a frame, in SI units, from a random
    generator. background: photons per pixel that are added, one number or an array; least: photons
    of a labelled pixel. threads: how many threads make the frames of a loop, each with a copy of
    the simulator (which should have threads=1) and ahead of the loop; they call ``draw``.
    """

    def __init__(self, sim: Simulator, draw: Draw, *, seed: int = 0, count: int | None = None, background: Any = 0.0,
                 least: float = 0.5, threads: int = 1) -> None:
        if not callable(draw):
            raise TypeError(f"draw is {draw!r}; it has to be a function of a random generator that returns the parameters of a frame")
        if threads < 1:
            raise ValueError(f"threads is {threads}; it has to be at least 1")
        self.sim, self.draw, self.seed, self.count, self.least, self.threads = sim.copy(), draw, seed, count, least, threads
        self.background = doubles(background, "background")
        if self.background.shape not in ((), sim.shape) or not (self.background >= 0).all():
            raise ValueError(f"background has to be a number of at least 0, or an array of such numbers in the image's shape {sim.shape}")
        flat = self.background.ndim == 0 and self.background <= _LARGEST
        self._flat = cumulative(float(self.background)) if flat else None
        self._light, self._pool = numpy.empty(sim.shape), _Pool(sim.shape)

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
        rng, parameters = self.drawn(number)
        light = self.sim.image(out=self._light)
        spots = labels.spots(self.sim, self.least, light, self._pool.take())
        return {"counts": self._counted(light, rng), "labels": spots.labels, "spots": spots, "parameters": parameters}

    def __len__(self) -> int:
        if self.count is None:
            raise TypeError("these frames have no end; give Frames a count")
        return self.count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.these(self.numbers(0, 1))

    def numbers(self, index: int, count: int) -> Iterable[int]:
        """The number of every ``count``-th frame from ``index`` on."""
        return itertools.count(index, count) if self.count is None else range(index, self.count, count)

    def these(self, numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The frames of these numbers, made by ``threads`` threads."""
        if self.threads == 1:
            yield from map(self.__getitem__, numbers)
            return
        makers = queue.SimpleQueue[Frames]()
        for _ in range(self.threads):
            makers.put(Frames(self.sim, self.draw, seed=self.seed, count=self.count, background=self.background, least=self.least))

        def make(number: int) -> dict[str, Any]:
            maker = makers.get()
            try:
                return maker[number]
            finally:
                makers.put(maker)

        ahead: collections.deque[concurrent.futures.Future[dict[str, Any]]] = collections.deque()
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            for number in numbers:
                ahead.append(pool.submit(make, number))
                if len(ahead) > 2 * self.threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def _counted(self, light: NDArray[numpy.float64], rng: numpy.random.Generator) -> Array:
        if self._flat is None:
            return rng.poisson(light + self.background).astype(numpy.int32)
        counts = self._pool.take()
        _core.draw_counts(counts.reshape(-1), light.reshape(-1), self._flat, int(rng.integers(2**63)))
        return counts
