#!/usr/bin/env python3
"""Runs `nb-opt --verify-roundtrip` on every .mlir file below a directory.

    roundtrip.py --nb-opt PROGRAM DIRECTORY

Left out are files that are meant to fail, which say so in their name (-errors), and those whose
RUN lines load a plugin, without which their ops are unknown."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys


def loads_plugin(path):
    with open(path) as file:
        return re.search(r"^// RUN:.*--plugin=", file.read(), re.MULTILINE) is not None


def files_below(root):
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".mlir") and not re.search(r"-errors\b", name) and not loads_plugin(path):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nb-opt", required=True)
    parser.add_argument("root")
    options = parser.parse_args()

    def check(path):
        command = [options.nb_opt, "--verify-roundtrip", "--split-input-file", path]
        return path, subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                    text=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, files_below(options.root)))
    failed = [(path, run) for path, run in results if run.returncode]
    for path, run in failed:
        print(f"{path}: does not round-trip\n{run.stderr.strip()[:2000]}")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
