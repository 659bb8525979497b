#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy.

    tidy.py ROOT BUILD CLANG_TIDY [--all]

It reads the C++ sources that differ from the commit before this one, or from NB_TIDY_BASE (main, a tag): MOST of them, a minute's
worth, where a change is large. With --all it reads those of the whole project but its tests. Exit status 1 with clang-tidy's words where it complains; 77 with the reason where it cannot run."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

MOST = 12


def changed(root):
    """Paths that differ, below the root, or None where git cannot tell."""
    base = os.environ.get("NB_TIDY_BASE", "HEAD~1")
    found = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", base], cwd=root, capture_output=True, text=True)
    return None if found.returncode else set(found.stdout.split())


def commands_of(build):
    """The compilation database of a build folder, with a row for each file of a batch (NB_BATCHES)."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        if not os.path.basename(row["file"]).startswith("unity_"):
            yield row
            continue
        with open(row["file"], encoding="utf-8") as file:
            for path in re.findall(r'^#include "(.+)"$', file.read(), re.MULTILINE):
                yield row | {"file": path, "command": row["command"].replace(row["file"], path)}


def main():
    root, build, program, *words = sys.argv[1:]
    if not os.path.exists(program):
        print("skipped: clang-tidy-22 is not installed")
        return 77
    commands = list(commands_of(build))
    sources = {os.path.relpath(os.path.join(row["directory"], row["file"]), root) for row in commands}
    sources = {path for path in sources if path.startswith(("dialect/", "lib/", "runtime/", "tools/")) and path.endswith(".cpp")}
    if "--all" not in words:
        names = changed(root)
        if names is None:
            print("skipped: git does not say what has changed")
            return 77
        sources = sorted(sources & names)
        sources = sources[::len(sources) // (MOST + 1) + 1]

    def check(path):
        return subprocess.run([program, "-p", database, "--quiet", path], cwd=root, capture_output=True, text=True)

    wrong = 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(commands, file)
        for path, done in zip(sorted(sources), threads.map(check, sorted(sources))):
            if done.returncode:
                print(f"{path}:\n{done.stdout}{done.stderr}")
                wrong += 1
    print(f"{len(sources)} sources, {wrong} with complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
