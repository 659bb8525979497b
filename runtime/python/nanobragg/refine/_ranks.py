"""Ranks of MPI, or one process: who has which shots, and sums that are the same for any number of
ranks."""

import bisect

import numpy


class Ranks:
    """cost: of each shot, (shots,), one at least. comm: a communicator of mpi4py, or None.

    A rank has the shots from ``begin`` to ``end``, about as much cost as the others.
    """

    def __init__(self, comm, cost):
        self.comm = comm
        self.rank, self.size = (comm.Get_rank(), comm.Get_size()) if comm is not None else (0, 1)
        self.shots = len(cost)
        done = numpy.cumsum(numpy.maximum(cost, 1e-9))
        # The shot at a cut goes to the left, so that the first rank has one.
        ideal = numpy.searchsorted(done, done[-1] * numpy.arange(1, self.size) / self.size)
        cuts = [min(int(at) + 1, self.shots) for at in ideal]
        self._begins = [0, *cuts, self.shots]
        self.begin, self.end = self._begins[self.rank], self._begins[self.rank + 1]

    @property
    def first(self):
        """Whether this rank is the one that writes."""
        return self.rank == 0

    def _owner(self, shot):
        # Several ranks may begin at the same shot: the last has it, the others have none.
        return bisect.bisect_right(self._begins, shot, hi=self.size) - 1

    def sum(self, terms, finish=None):
        """The sum over all shots of vectors of one length, on all ranks, the same to the last bit
        for any number of ranks.

        terms: those of this rank's shots, in their order, None where a shot adds nothing. Shots are
        added along a binary tree over their numbers: partial sums inside of a rank, and then
        between ranks, where a subtree has several. finish: is called with the sum on the first
        rank, before the others get what it returns.
        """
        waiting = {}  # (level, place): sum over the shots place * 2^level ... (place + 1) * 2^level
        for shot, term in zip(range(self.begin, self.end), terms):
            level, place = 0, shot
            if term is not None:
                term = numpy.array(term, dtype=float)
            while place % 2 == 1 and (level, place - 1) in waiting:
                term = _added(waiting.pop((level, place - 1)), term)
                level, place = level + 1, place // 2
            waiting[level, place] = term
        level = 0
        while (self.shots - 1) >> level > 0:
            for place in sorted(place for at, place in waiting if at == level):
                if place % 2 == 1:
                    owner = self._owner((place - 1) << level)
                    mine = waiting.pop((level, place))
                    if owner == self.rank:
                        mine = _added(waiting.pop((level, place - 1)), mine)
                        waiting[level + 1, place // 2] = mine
                    else:
                        self.comm.send(None if mine is None else len(mine), owner, tag=2 * level)
                        if mine is not None:
                            self.comm.Send(mine, owner, tag=2 * level + 1)
                    continue
                right = (place + 1) << level
                if right >= self.shots or self._owner(right) != self.rank:
                    left = waiting.pop((level, place))
                    if right < self.shots:
                        left = _added(left, self._received(self._owner(right), level))
                    waiting[level + 1, place // 2] = left
            level += 1
        total = waiting.get((level, 0))
        return self.given(finish(total) if finish and self.first else total)

    def _received(self, owner, level):
        length = self.comm.recv(source=owner, tag=2 * level)
        if length is None:
            return None
        term = numpy.empty(length)
        self.comm.Recv(term, source=owner, tag=2 * level + 1)
        return term

    def given(self, array):
        """An array of the first rank's, on all; or None."""
        if self.size == 1:
            return array
        length = self.comm.bcast(None if array is None else len(array))
        if length is None:
            return None
        if not self.first:
            array = numpy.empty(length)
        self.comm.Bcast(array)
        return array

    def collected(self, mine):
        """Lists of all ranks one after another, on the first; None elsewhere."""
        if self.size == 1:
            return list(mine)
        parts = self.comm.gather(list(mine))
        return [item for part in parts for item in part] if self.first else None


def _added(a, b):
    if a is None or b is None:
        return b if a is None else a
    a += b
    return a
