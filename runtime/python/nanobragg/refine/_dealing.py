"""Work on shots that do not depend on each other, in processes or on the ranks of MPI: who is free
gets the next one."""

import collections
import concurrent.futures

from ._workers import each

_work = None


def _call(number):
    return _work(number)


def work_for_first(work, comm):
    """On all ranks but the first: work(number) for what it deals, until there is no more."""
    from mpi4py.futures import MPICommExecutor
    global _work
    _work = work
    with MPICommExecutor(comm, root=0):
        pass


def dealt(work, numbers, comm):
    """On the first rank: results of all, as they come. It works as the others do, in a thread."""
    from mpi4py.futures import MPICommExecutor
    left, running = collections.deque(numbers), {}
    with MPICommExecutor(comm, root=0) as others, concurrent.futures.ThreadPoolExecutor(1) as own:
        free = [(others, _call)] * (comm.Get_size() - 1) + [(own, work)]
        while left or running:
            while left and free:
                executor, call = worker = free.pop()
                running[executor.submit(call, left.popleft())] = worker
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                free.append(running.pop(future))
                yield future.result()


def check_run(out, resume, shard=(0, 1)):
    """ValueError where a run has no folder that it needs, or its shard is none."""
    part, parts = shard
    if resume and out is None:
        raise ValueError("resume= goes on with what is in a folder; give it as out=")
    if not 0 <= part < parts:
        raise ValueError(f"shard is {part}/{parts}; parts count from 0, and there are {parts}")


class Dealer:
    """Deals works that follow one another. comm: a communicator of several ranks, whose first one
    alone knows the works, or None. workers: processes where there are no ranks; None: one for each
    processor."""

    def __init__(self, comm, workers):
        self.comm, self.workers = comm, workers

    def __call__(self, work, numbers, lost):
        """Results of work(number), as they come. lost(number, reason) takes the place of one whose
        process dies."""
        if self.comm is None:
            return each(work, numbers, self.workers, lost)
        self.comm.bcast(work)
        return dealt(work, numbers, self.comm)

    def serve(self):
        """On all ranks but the first: does what it deals, until it ends."""
        while (work := self.comm.bcast(None)) is not None:
            work_for_first(work, self.comm)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.comm is not None:
            self.comm.bcast(None)
