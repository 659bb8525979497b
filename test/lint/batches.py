#!/usr/bin/env python3
"""Finds functions for one file that share their name and number of parameters with one of another file
of the same library.

    batches.py BUILD

With -DNB_BATCHES=ON several files of a library are compiled as one, so that a call could take the
function of the other file without a warning. Exit status 1 when there are any."""

import collections
import pathlib
import re
import sys

# A function at the beginning of a line, with its parameters.
FUNCTION = re.compile(r"^(?! |using |struct |class |enum )[\w:<>,&*\[\] ]*?[ &*](\w+)\(((?:[^(){};]|\([^()]*\))*)\) \{", re.M)


def arity(parameters):
    flat = parameters
    while (inner := re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", flat)) != flat:
        flat = inner
    return flat.count(",") + 1 if flat.strip() else 0


def functions(text):
    """(namespaces, name, number of parameters) of the functions that only this file has."""
    named = tuple(re.findall(r"^namespace ([\w:]+) \{", text, re.M))
    hidden = "\n".join(match[1] for match in re.finditer(r"^namespace \{\n(.*?)^\} // namespace$", text, re.M | re.S))
    alone = "\n".join(match[1] for match in re.finditer(r"^static ((?:.*\n)*?.*[{;])$", text, re.M))
    return {(named, match[1], arity(match[2])) for part in (hidden, alone) for match in FUNCTION.finditer(part)}


def complaints(libraries):
    """libraries: name -> {path: text}."""
    for library, sources in libraries.items():
        places = collections.defaultdict(list)
        for path, text in sources.items():
            for function in functions(text):
                places[function].append(path)
        for (_, name, count), paths in sorted(places.items()):
            if len(paths) > 1:
                yield f"{library}: {name} of {count} parameters is in {' and in '.join(sorted(paths))}"


def main():
    libraries = collections.defaultdict(dict)
    for batch in pathlib.Path(sys.argv[1]).glob("**/CMakeFiles/*.dir/Unity/unity_*.cxx"):
        for path in re.findall(r'^#include "(.*)"$', batch.read_text(encoding="utf-8"), re.M):
            source = pathlib.Path(path)
            if source.exists():  # batches of an earlier configuration stay in the folder
                libraries[batch.parents[1].stem][path] = source.read_text(encoding="utf-8")
    if not libraries:
        print("skipped: the build is without -DNB_BATCHES=ON")
        return
    found = list(complaints(libraries))
    print(*found, f"{len(libraries)} libraries, {len(found) or 'no'} complaint{'s' * (len(found) > 1)}", sep="\n")
    sys.exit(bool(found))


main()
