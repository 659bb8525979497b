"""nb-sim, the command line: ``nb-sim FLAGS`` where pip installed it, or ``python -m
nanobragg.simulate FLAGS``.

In a program that has MPI by mpi4py, ``series(flags, comm)`` makes a series of images with its
ranks."""

import os
import select
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

from . import _compiler_folders, _core

# Variables that launchers set for their ranks; nb-sim would take itself for one.
_LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "MV2_", "SLURM_")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def _program():
    return os.path.join(os.path.dirname(_core.__file__), "bin", "nb-sim")


def _environment():
    environment = dict(os.environ)
    for folder in _compiler_folders():
        environment.setdefault("NB_COMPILER_LIBRARY", os.path.join(folder, "libnb-compiler.so"))
    return environment


def _deal(asked, comm):
    """Deals blocks of images, 0, 1, 2 and so on, to those that ask: this rank's nb-sim by its
    socket, and on rank 0 the other ranks by messages. Ends when no rank asks any more. (Messages
    are used instead of a counter in shared memory, because Open MPI 4 confuses the shared memory of
    communicators that were split from one.)"""
    from mpi4py import MPI
    asks, ends = 1, 2
    numbers = iter(range(sys.maxsize))
    others = comm.size - 1 if comm.rank == 0 else 0
    own, state = True, MPI.Status()
    while own or others:
        if own and select.select([asked], [], [], 0.001)[0]:
            try:
                own = bool(asked.recv(1))
                if own:
                    block = next(numbers) if comm.rank == 0 else comm.sendrecv(None, 0, asks, source=0)
                    asked.sendall(b"%d\n" % block)
            except OSError:
                own = False  # it died; its images are made by the next run with --resume
            if not own and comm.rank != 0:
                comm.send(None, 0, ends)
        while others and comm.iprobe(status=state):
            comm.recv(source=state.source, tag=state.tag)
            if state.tag == asks:
                comm.send(next(numbers), state.source)
            else:
                others -= 1
        if not own:
            time.sleep(0.001)


def series(flags: str | Iterable[str], comm: Any = None) -> None:
    """Makes the images of ``--shots=`` or ``--frames=`` with the ranks of ``comm``, an mpi4py
    communicator. None: MPI.COMM_WORLD or, without mpi4py, this process alone.

    flags: options of nb-sim, a string or a list, the same on every rank. The images are bitwise
    identical to those of one process; files are named as by ``nb-sim --shard=RANK/SIZE``. A rank
    takes the next block of images whenever it is free.

    Raises ValueError for flags that describe no series or contain --shard. If nb-sim fails on one
    rank, the others finish, and all raise subprocess.CalledProcessError; call again with
    ``--resume`` among the flags, on any number of ranks, to continue.
    """
    flags = shlex.split(flags) if isinstance(flags, str) else list(flags)
    if comm is None:
        try:
            from mpi4py import MPI
        except ImportError:
            comm = None
        else:
            comm = MPI.COMM_WORLD
    environment = {name: value for name, value in _environment().items() if not name.startswith(_LAUNCHERS)}
    command = [_program(), *flags]
    if comm is None or comm.size == 1:
        subprocess.run(command, env=environment, check=True)
        return
    if _is_part(flags):
        raise ValueError("the ranks of the communicator are the shards; leave out --shard and --deal")
    if not _is_series(flags):
        raise ValueError("one image is not a series; give --shots or --frames, or run nb-sim on one rank")
    environment.setdefault("OMP_NUM_THREADS", str(_threads(comm)))
    comm = comm.Dup()  # with messages of its own
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            command += f"--shard={comm.rank}/{comm.size} --deal={theirs.fileno()} -noprogress".split()
            if comm.rank != 0:
                command += ["--quiet"]
            running = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
        _deal(ours, comm)
    status = running.wait()
    # Asleep: ranks that are done would else keep processors busy that others need.
    waiting = comm.Ibarrier()
    while not waiting.Test():
        time.sleep(0.002)
    failed = [(rank, code) for rank, code in enumerate(comm.allgather(status)) if code]
    comm.Free()
    if failed:
        rank, code = failed[0]
        raise subprocess.CalledProcessError(code, [f"nb-sim on rank {rank}", *flags])


def _is_series(flags):
    return any(flag.startswith(("--shots", "--frames")) for flag in flags)


def _is_part(flags):
    """Whether the process has been given its share of a series."""
    return any(flag.startswith(("--shard", "--deal")) for flag in flags)


def _threads(comm):
    """Ranks that the launcher has not bound to processors share those of their machine."""
    from mpi4py import MPI
    cores = len(os.sched_getaffinity(0))
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    ranks = here.size
    here.Free()
    return max(1, cores // ranks) if cores == os.cpu_count() else cores


def launched():
    """The variable in which a launcher gives the number of its processes, if there are several, or
    None."""
    return next((name for name in _SIZES if os.environ.get(name, "").isdigit() and int(os.environ[name]) > 1), None)


def world():
    """MPI.COMM_WORLD of mpi4py. RuntimeError if the launcher belongs to another MPI, so that each
    process would be a world of its own; ImportError without mpi4py."""
    from mpi4py import MPI
    name, size = launched(), MPI.COMM_WORLD.Get_size()
    if name and size != int(os.environ[name]):
        library = MPI.Get_library_version().splitlines()[0].partition(",")[0].strip("\0 ")
        raise RuntimeError(f"the launcher started {os.environ[name]} processes ({name}), but mpi4py, with {library}, sees "
                           f"{size}; use the launcher of that MPI (with Slurm, srun --mpi=pmix or another of --mpi=list), or "
                           "share the work without MPI: --shard=I/N, with another I for each process")
    return MPI.COMM_WORLD


def main() -> None:
    """Runs the package's nb-sim in place of this process; under a launcher of MPI, a series by
    series()."""
    flags = sys.argv[1:]
    try:
        program = _program()
    except FileNotFoundError as error:
        sys.exit(f"nb-sim: {error}")
    if launched() and _is_series(flags) and not _is_part(flags):
        try:
            world()
        except (ImportError, RuntimeError):
            pass  # nb-sim opens its own MPI, or says what is wrong
        else:
            try:
                series(flags)
            except subprocess.CalledProcessError as error:
                sys.exit(error.returncode if error.returncode > 0 else 1)
            return
    os.execve(program, ["nb-sim", *flags], _environment())


if __name__ == "__main__":
    main()
