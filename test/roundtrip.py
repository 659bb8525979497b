#!/usr/bin/env python3
"""Runs `nb-opt --verify-roundtrip` on every .mlir file below a directory.

    roundtrip.py --nb-opt PROGRAM DIRECTORY

Files that are meant to fail say so in their name (-errors) and are left out."""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys


def files_below(root):
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".mlir") and not re.search(r"-errors\b", name):
                yield os.path.join(folder, name)


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
