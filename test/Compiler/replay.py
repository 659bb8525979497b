"""Replays a folder of `--dump-ir`: each file's first line is the nb-opt command that makes it from the
file before; running it must give the same program.

    replay.py NB_OPT FOLDER

Prints how many passes were replayed, in all folders below too."""

import os
import shlex
import subprocess
import sys


def printed(nb_opt, folder, arguments):
    """The output of nb-opt, without the names of values, where equal ones are told apart by numbers."""
    run = subprocess.run([nb_opt, "--mlir-use-nameloc-as-prefix=false", *arguments], cwd=folder, text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"nb-opt {' '.join(arguments)} in {folder}: {run.stderr}")
    return run.stdout


def replay(nb_opt, folder):
    count = 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            count += replay(nb_opt, path)
            continue
        with open(path, encoding="utf-8") as file:
            first = file.readline()
        command = first.removeprefix("// nb-opt ")
        if command == first:
            if not name.startswith("00-"):
                sys.exit(f"{path} does not say what made it")
            continue
        if printed(nb_opt, folder, shlex.split(command)) != printed(nb_opt, folder, [name]):
            sys.exit(f"{path} is not what its command makes: nb-opt {command}")
        count += 1
    return count


count = replay(os.path.abspath(sys.argv[1]), sys.argv[2])
if not count:
    sys.exit("nothing was dumped")
print(f"{count} commands replayed")
