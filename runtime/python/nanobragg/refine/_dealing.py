"""Shots that do not depend on each other, on the ranks of MPI: who is free gets the next one."""

import collections
import queue
import threading
import time


def work_for_first(work, comm):
    """On all ranks but the first: work(number) for what it deals, until there is no more. Results go with the next
    question, so that the first alone writes and nothing is gathered at the end."""
    result = None
    while (number := comm.sendrecv(result, 0, source=0)) is not None:
        result = work(number)


def dealt(work, numbers, comm):
    """On the first rank: results of all, as they come. It works as the others do, while a thread answers them."""
    left, done = collections.deque(numbers), queue.SimpleQueue()

    def next_number():
        try:
            return left.popleft()
        except IndexError:
            return None

    def answer():
        from mpi4py import MPI
        others, state = comm.Get_size() - 1, MPI.Status()
        try:
            while others:
                if not comm.iprobe(status=state):
                    time.sleep(0.001)
                    continue
                result = comm.recv(source=state.Get_source())
                if result is not None:
                    done.put(result)
                number = next_number()
                comm.send(number, state.Get_source())
                others -= number is None
        except BaseException as error:
            done.put(error)
        else:
            done.put(None)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    ended = False
    while not ended:
        if (number := next_number()) is not None:
            yield work(number)
        while not ended and (number is None or not done.empty()):
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            if result is None:
                ended = True
            else:
                yield result
    thread.join()
