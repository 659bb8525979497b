#!/usr/bin/env python3
"""Compares the includes of the sources with the list of folders in docs/architecture.md.

    arrows.py ROOT

A line of that list names a folder and the folders whose headers it may include. Each of them is in
a line above, so the dependencies have no cycles. A file belongs to the longest name that its path
begins with. Reports includes that the list does not allow, folders that it allows but
no file includes, folders that are not in the list, and lines in the wrong order; exit status 1 if
there are any."""

import collections
import os
import re
import sys

TOP_FOLDERS = ("dialect", "lib", "runtime", "tools")
# Whose headers are installed under another name.
INSTALLED = {"nanobragg/": "runtime/include/nanobragg/"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def rows_of(page):
    """The folders of the section "Dependencies" in order, each with those that it may include."""
    section = page.split("\n## Dependencies\n", 1)[1].split("\n## ", 1)[0]
    rows = {}
    for item in re.findall(r"^\* (.*(?:\n  .*)*)", section, re.M):
        room, *allowed = re.findall(r"`([^`]+)`", item)
        rows[room] = set(allowed)
    return rows


def sources(root):
    for top in TOP_FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".h", ".cpp", ".c")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def room_of(path, rows):
    while path:
        if path in rows:
            return path
        path = os.path.dirname(path)
    return None


def check(rows, includes):
    """Complaints. `includes`: pairs of a file and the path from the root that it includes."""
    complaints, used, above = [], collections.defaultdict(set), set()
    for room, allowed in rows.items():
        for other in sorted(allowed - above):
            complaints.append(f"{room}: {other} is not in a line above")
        above.add(room)
    for path, included in includes:
        room, other = room_of(os.path.dirname(path), rows), room_of(os.path.dirname(included), rows)
        if room is None:
            complaints.append(f"{path}: its folder is in no line")
        elif other is not None and other != room:
            used[room].add(other)
            if other not in rows[room]:
                complaints.append(f"{path}: includes {included}, but {room} may not include {other}")
    for room, allowed in rows.items():
        for other in sorted(allowed - used[room]):
            complaints.append(f"{room}: may include {other} and does not")
    return complaints


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs/architecture.md"), encoding="utf-8") as page:
        rows = rows_of(page.read())
    includes = []
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for included in INCLUDE.findall(file.read()):
                for short, whole in INSTALLED.items():
                    if included.startswith(short):
                        included = whole + included[len(short):]
                # Headers of other projects are not below the root.
                if included.startswith(tuple(top + "/" for top in TOP_FOLDERS)):
                    includes.append((path, included))
    complaints = check(rows, includes)
    print("\n".join(complaints) or f"{len(rows)} rooms, {len(includes)} includes, no complaint")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
