#!/usr/bin/env python3
"""Compares the sources with what clang-format makes of them, and reads the lines of pages.

    format.py ROOT CLANG_FORMAT

C++ files have to be as CLANG_FORMAT writes them. Lines of prose in pages are at most 100 columns
long, and so is the text of rows of tables, without the targets of links, so that a phone shows them;
code, links and generated pages may be longer. No line within a paragraph begins with a
character that makes it something else: a comment (%) or an item of a list. Exit status 1 with a line
for each file that differs; 77 with the reason when clang-format is not there."""

import os
import re
import subprocess
import sys

LONGEST = 100
GENERATED = ("docs/reference/", "docs/man/")


def files(root, suffixes):
    """Paths below the root, relative to it, that are sources: no build folder, nothing hidden."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if not name.startswith((".", "build")) and name != "shared")
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.relpath(os.path.join(folder, name), root)


def long_lines(text):
    """Numbers of the lines of prose that are too long."""
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        elif (len(line) > LONGEST and not fence and not line.lstrip().startswith("|")
              and not line.startswith("    ") and " " in line[:LONGEST].strip()):
            yield number


def long_rows(text):
    """Numbers of the rows of tables that are too long."""
    return [number for number, line in enumerate(text.split("\n"), 1)
            if line.startswith("|") and len(re.sub(r"\]\([^)]*\)|[`[]", "", line)) > LONGEST]


def swallowed_lines(text):
    """Numbers of the lines of prose that Markdown reads as a comment, or as an item of a list."""
    fence, before = False, ""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        elif not fence and (re.match(r"%", line) or re.match(r"[-+] ", line) and
                            re.match(r"\w", before) and not re.match(r"\d+\. ", before)):
            yield number
        before = line


def main():
    root, formatter = sys.argv[1:]
    wrong = 0
    for path in files(root, (".md",)):
        if path.startswith(GENERATED):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        complaints = [(number, f"longer than {LONGEST} columns") for number in long_lines(text)]
        complaints += [(number, f"a row of more than {LONGEST} columns; write a list")
                       for number in long_rows(text)]
        complaints += [(number, "begins as a comment or a list does; break the line elsewhere")
                       for number in swallowed_lines(text)]
        for number, complaint in complaints:
            print(f"{path}:{number}: {complaint}")
        wrong += len(complaints)
    if not os.path.exists(formatter):
        print("skipped: clang-format-22 is not installed")
        return 1 if wrong else 77
    sources = list(files(root, (".cpp", ".h", ".c")))
    check = subprocess.run([formatter, "--dry-run", *sources], cwd=root, capture_output=True,
                           text=True)
    for path in sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", check.stderr, re.M))):
        print(f"{path}: clang-format-22 -i {path}")
        wrong += 1
    if check.returncode:
        print(check.stderr)
        wrong += 1
    print(f"{len(sources)} sources, {wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
