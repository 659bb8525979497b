#!/usr/bin/env python3
"""Times of series and refinements on many ranks: measured, modelled, and with delays. docs/scaling.md has the results.

  scaling.py nb-sim PROGRAM                     a series of 200 stills on 1, 2, 4 and 8 ranks of this machine
  scaling.py dealing                            the model of a series against a simulation of its dealing
  mpirun -n R scaling.py sleepers               the same dealing with ranks that sleep where nb-sim renders
  mpirun -n R scaling.py sums [LENGTH]          sums of nanobragg.refine with ranks that sleep where it differentiates
"""

import heapq
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy

FLAGS = ("-cell 40 50 60 90 90 90 -default_F 100 -N 12 -gauss_xtal -oversample 1 -lambda 1 -nopgm -xds -distance 100 "
         "-detpixels 512 -pixel 0.2 -fluence 1e25 -mosaic 0.3 -mosaic_dom 50 --cull=off -seed 5 --nexus=a.nxs "
         "-noprogress --threads 1 --shots=../shots.txt").split()


def measure(program):
    print("ranks  elapsed_s  processor_s  processor_ms_per_shot")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "shots.txt"), "w") as file:
            file.write("draw 200 7\nmisset random\nlattices 1:3\n")
        for ranks in (1, 2, 4, 8):
            best = None
            for _ in range(3):
                work = os.path.join(folder, "work")
                os.makedirs(work)
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), program, *FLAGS],
                               cwd=work, check=True, capture_output=True)
                elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                best = min(best or (elapsed, used), (elapsed, used), key=lambda pair: pair[1])
                shutil.rmtree(work)
            print(f"{ranks:5}  {best[0]:9.2f}  {best[1]:11.2f}  {1e3 * best[1] / 200:21.2f}", flush=True)


def blocks_of(costs, workers):
    """As FrameDeal makes them: lists of shots."""
    blocks, at, remaining = [], 0, sum(costs)
    while at < len(costs):
        want, begin, taken = remaining / (8 * workers), at, 0
        while at < len(costs) and (at == begin or taken + costs[at] <= want):
            taken += costs[at]
            at += 1
        remaining -= taken
        blocks.append(list(range(begin, at)))
    return blocks


def dealt(seconds, ranks, service):
    """Seconds until the last of `ranks` ends, and the number of blocks. seconds: of each shot, whose cost the
    dealer does not know. A question takes `service` seconds, in which no other is answered."""
    blocks = blocks_of([1] * len(seconds), ranks)
    free, answered, end = [(0.0, rank) for rank in range(ranks)], 0.0, 0.0
    for block in blocks:
        now, rank = heapq.heappop(free)
        answered = max(answered, now) + service
        done = answered + sum(seconds[shot] for shot in block)
        end = max(end, done)
        heapq.heappush(free, (done, rank))
    return end, len(blocks)


def model(seconds, ranks, service):
    """The work divided, half of the longest shot, for which the others wait at the end, and the questions of one rank.
    No less than the dealer needs for all questions."""
    shots = len(seconds)
    questions = 8 * ranks * (1 + math.log(max(1, shots / (8 * ranks)))) if shots > 8 * ranks else shots
    return max(sum(seconds) / ranks + max(seconds) / 2 + questions / ranks * service, questions * service)


def dealing():
    random = numpy.random.default_rng(1)
    print("shots  ranks  service_us  spread  ideal_s  model_s  dealt_s  blocks  every_Nth_s  model/dealt")
    for shots, ranks in ((200, 8), (1000, 64), (10000, 64), (10000, 1600), (100000, 1600), (100000, 6400)):
        for service in (5e-6, 1e-3):
            for spread in (0.2, 0.8):
                seconds = random.lognormal(math.log(0.5), spread, shots)
                real, blocks = dealt(seconds, ranks, service)
                fixed = max(seconds[rank::ranks].sum() for rank in range(ranks))
                guess = model(seconds, ranks, service)
                print(f"{shots:6} {ranks:5} {1e6 * service:10.0f} {spread:8} {seconds.sum() / ranks:8.2f} {guess:8.2f} "
                      f"{real:8.2f} {blocks:7} {fixed:10.2f} {guess / real:10.2f}")


def sleepers():
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    seconds = numpy.random.default_rng(1).lognormal(math.log(0.03), 0.5, 20 * comm.size)
    blocks = blocks_of([1] * len(seconds), comm.size)
    numbers = iter(range(sys.maxsize))

    def answer():  # the thread of rank 0, as in lib/MPI/Module.cpp
        left, state = comm.size - 1, MPI.Status()
        while left:
            while comm.iprobe(status=state):
                comm.recv(source=state.source)
                number = next(numbers)
                comm.send(number, state.source)
                left -= number >= len(blocks)
            time.sleep(0.0002)

    comm.Barrier()
    server = threading.Thread(target=answer)
    if comm.rank == 0:
        server.start()
    start, asked, asking = time.perf_counter(), 0, 0.0
    while True:
        begin = time.perf_counter()
        number = next(numbers) if comm.rank == 0 else comm.sendrecv(None, 0, source=0)
        asking += time.perf_counter() - begin
        asked += 1
        if number >= len(blocks):
            break
        for shot in blocks[number]:
            time.sleep(seconds[shot])
    own = time.perf_counter() - start
    if comm.rank == 0:
        server.join()
    ends, questions, waits = comm.gather(own), comm.reduce(asked), comm.reduce(asking)
    if comm.rank == 0:
        print(f"{comm.size} ranks, {len(seconds)} shots: {max(ends):.3f} s, the first had no more to do after "
              f"{min(ends):.3f} s; simulated {dealt(seconds, comm.size, 0)[0]:.3f} s, model "
              f"{model(seconds, comm.size, 0):.3f} s, ideal {seconds.sum() / comm.size:.3f} s; a question took "
              f"{1e6 * waits / questions:.0f} us")


def sums(length=50000):
    from mpi4py import MPI

    from nanobragg.refine._ranks import Ranks
    comm = MPI.COMM_WORLD
    shots, delay = 32, 0.05
    ranks = Ranks(comm if comm.size > 1 else None, numpy.ones(shots))
    term = numpy.ones(length)

    def terms():
        for _ in range(ranks.begin, ranks.end):
            time.sleep(delay)
            yield term

    best = [math.inf, math.inf]
    for _ in range(5):
        comm.Barrier()
        start = time.perf_counter()
        ranks.sum(terms())
        comm.Barrier()
        middle = time.perf_counter()
        ranks.sum(term for _ in range(ranks.begin, ranks.end))
        comm.Barrier()
        best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
    if comm.rank == 0:
        print(f"{comm.size} ranks, {shots} shots, {length} numbers: a step {best[0]:.4f} s, gradients "
              f"{delay * shots / comm.size:.4f} s, the sum alone {best[1]:.4f} s")


if __name__ == "__main__":
    kinds = {"nb-sim": lambda: measure(os.path.abspath(sys.argv[2])), "dealing": dealing, "sleepers": sleepers,
             "sums": lambda: sums(*map(int, sys.argv[2:3]))}
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]]()
