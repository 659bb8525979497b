"""Labelled frames for training, made on demand.

    frames = Frames(sim, lambda rng: {"misset": random_misset(seed=rng)}, background=2.0)
    frames[0]["counts"], frames[0]["labels"], frames[0]["spots"].miller_index
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _core
from ._arrays import doubles
from .simulator import Simulator

Draw = Callable[[numpy.random.Generator], Mapping[str, Any]]


class Poisson:
    """Counts of one mean, many at a time: exact, and several times as fast as NumPy's.

    16 random bits choose one of 65536 intervals of the distribution; in the few that have a step,
    further bits decide.
    """

    largest = 200.0  #: Largest mean; beyond it NumPy is as fast.

    def __init__(self, mean: float) -> None:
        terms = numpy.arange(int(mean + 40 * mean**0.5 + 60))
        logarithms = terms[1:] * 0.0 + numpy.log(mean) - numpy.log(terms[1:])
        self._below = numpy.cumsum(numpy.exp(numpy.concatenate([[0.0], numpy.cumsum(logarithms)]) - mean))
        edges = numpy.arange(65537) / 65536
        low = numpy.searchsorted(self._below, edges[:-1], side="right")
        high = numpy.searchsorted(self._below, edges[1:], side="left")
        self._counts = numpy.where(low == high, low, -1).astype(numpy.int32)

    def __call__(self, rng: numpy.random.Generator, shape: tuple[int, ...]) -> NDArray[numpy.int32]:
        count = math.prod(shape)
        # Words of 64 bits are drawn faster than four of 16, and contain the same bits.
        bits = rng.integers(2**64, size=(count + 3) // 4, dtype=numpy.uint64).view(numpy.uint16)[:count]
        counts = numpy.empty(count, dtype=numpy.int32)
        at = _core.look_up(self._counts, bits, counts)
        places = (bits[at] + rng.random(len(at))) / 65536
        counts[at] = numpy.minimum(numpy.searchsorted(self._below, places, side="right"), len(self._below) - 1)
        return counts.reshape(shape)


def add_photons(counts: NDArray[numpy.int32], light: NDArray[numpy.float64], rng: numpy.random.Generator) -> None:
    """Adds a Poisson number of photons of each pixel's light to its counts.

    The many pixels with little light share one Poisson number, whose photons then choose their
    pixels: the same distribution, by fewer random numbers.
    """
    limit = 0.5
    bright, sums = _core.bright_places(light, limit)
    counts[bright] += rng.poisson(light[bright]).astype(numpy.int32)
    _core.add_dim(counts, light, limit, sums, sums[-1] * rng.random(rng.poisson(sums[-1])))


class Frames:
    """Labelled frames: ``frames[i]`` makes frame i, and a loop makes them in order, ``count``
    frames or endlessly.

    A frame is a dict: ``counts`` (int32), ``labels`` and ``spots`` as in ``Simulator.spots``,
    ``parameters``. Frame i of a seed is always the same. sim: a simulator with the numbers that all
    frames share; it is copied. draw: the parameters of a frame, in SI units, from a random
    generator. background: photons per pixel that are added, one number or an array; least: photons
    of a labelled pixel.
    """

    def __init__(self, sim: Simulator, draw: Draw, *, seed: int = 0, count: int | None = None, background: Any = 0.0,
                 least: float = 0.5) -> None:
        if not callable(draw):
            raise TypeError(f"draw is a function of a random generator that returns the parameters of a frame, not {draw!r}")
        self.sim, self.draw, self.seed, self.count, self.least = sim.copy(), draw, seed, count, least
        self.background = doubles(background, "background")
        if self.background.shape not in ((), sim.shape) or not (self.background >= 0).all():
            raise ValueError(f"background is one number of at least 0, or such numbers in the image's shape {sim.shape}")
        flat = self.background.ndim == 0 and 0 < self.background <= Poisson.largest
        self._flat = Poisson(float(self.background)) if flat else None
        self._light = numpy.empty(sim.shape)

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
        spots = self.sim.spots(self.least, light := self.sim.image(out=self._light))
        return {"counts": self._counted(light, rng), "labels": spots.labels, "spots": spots, "parameters": parameters}

    def __len__(self) -> int:
        if self.count is None:
            raise TypeError("these frames have no end; give Frames a count")
        return self.count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[number] for number in self.numbers(0, 1))

    def numbers(self, index: int, count: int) -> Iterable[int]:
        """The number of every ``count``-th frame from ``index`` on."""
        return itertools.count(index, count) if self.count is None else range(index, self.count, count)

    def _counted(self, light, rng):
        if self._flat is None:
            return rng.poisson(light + self.background).astype(numpy.int32)
        counts = self._flat(rng, light.shape)
        add_photons(counts.reshape(-1), light.reshape(-1), rng)  # a sum of Poisson's numbers is one
        return counts
