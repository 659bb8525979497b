"""Work on many shots in processes of its own."""

import concurrent.futures.process
import multiprocessing
import os
import threading
import time

_FORK = multiprocessing.get_context("fork")  # no process has to pickle images or functions; the parent has no kernel running
_shared = None  # the work, and a byte for each number that says whether it was begun


def each(work, numbers, workers, lost):
    """Results of work(number), as they come. The numbers that were begun when a process died are
    tried again, each alone; one of which it dies again has the result lost(number, reason)."""
    global _shared
    workers = min(workers or len(os.sched_getaffinity(0)), max(len(numbers), 1))
    if workers <= 1:
        yield from map(work, numbers)
        return
    left, again = list(numbers), []
    while left or again:
        batch, count = (left, workers) if left else ([again.pop()], 1)
        done, begun = set(), _FORK.RawArray("b", max(batch) + 1)
        _shared = work, begun
        with concurrent.futures.ProcessPoolExecutor(count, _FORK, _end_with, (os.getpid(),)) as pool:
            futures = {pool.submit(_forked, number): number for number in batch}
            for future in concurrent.futures.as_completed(futures):
                try:
                    result = future.result()
                except concurrent.futures.process.BrokenProcessPool:
                    continue
                done.add(futures[future])
                yield result
        rest = [number for number in batch if number not in done]
        if not left:
            yield from (lost(number, "its process was killed, perhaps for its memory; give --workers=1, or free memory") for number in rest)
            continue
        left = [number for number in rest if not begun[number]]
        if rest and left == rest:
            raise ChildProcessError("worker processes end before they work, perhaps for their memory; give --workers=1, or free memory")
        again += [number for number in rest if begun[number]]


def _end_with(parent):
    """Ends this worker when its parent has ended: the pool's workers would wait for ever."""
    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _forked(number):
    work, begun = _shared
    begun[number] = 1
    return work(number)
