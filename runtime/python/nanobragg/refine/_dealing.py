"""Shots that do not depend on each other, on the ranks of MPI: who is free gets the next one."""

import collections
import concurrent.futures

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
