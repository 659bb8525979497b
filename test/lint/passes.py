#!/usr/bin/env python3
"""Compares how passes say what they do with the customs of MLIR.

    passes.py ROOT

A file that defines a pass of Passes.td has DEBUG_TYPE, the pass's argument, and LDBG or LLVM_DEBUG
lines; the pass has statistics in Passes.td, each of which the file counts, and which
test/Transforms/statistics.test looks at. All passes run in a FlaggedPassManager, which follows
--mlir-... flags. Exit status 1 when something is missing."""

import glob
import os
import re
import sys

FOLDERS = ("lib/Transforms", "lib/Conversion")
# They derive from it, or are MLIR's driver.
OTHER_MANAGERS = ("lib/Compiler/Pipelines/MLIRFlags.h", "tools/nb-opt/nb-opt.cpp")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def passes_of(text):
    """Name of the definition -> (argument, [(variable, name in the report)])."""
    found = {}
    for one in re.finditer(r'^def (\w+) : Pass<"([^"]+)"(.*?)^}$', text, re.M | re.S):
        found[one[1]] = one[2], re.findall(r'Statistic<"(\w+)", "([\w-]+)"', one[3])
    return found


def check(sources, definitions, test):
    """Complaints. sources: path -> text; definitions: as of passes_of; test: the text of statistics.test."""
    complaints, defined = [], {}
    for path, text in sources.items():
        for name in re.findall(r"#define GEN_PASS_DEF_(\w+)", text):
            defined[name] = path
        for manager in re.findall(r"^\s*(?:mlir::)?PassManager \w+\(.*", text, re.M):
            if path not in OTHER_MANAGERS:
                complaints.append(f"{path}: {manager.strip()}: use FlaggedPassManager")
    for name, (argument, statistics) in definitions.items():
        path = defined.get(name.upper())
        if path is None:
            complaints.append(f"{argument}: no file defines it")
            continue
        text = sources[path]
        if f'#define DEBUG_TYPE "{argument}"' not in text:
            complaints.append(f'{path}: has no #define DEBUG_TYPE "{argument}"')
        if not re.search(r"\b(?:LDBG|LLVM_DEBUG)\(", text):
            complaints.append(f"{path}: has no LDBG() line")
        if not statistics:
            complaints.append(f"{argument}: has no statistics in Passes.td")
        for variable, shown in statistics:
            if not re.search(rf"\b{variable} \+=|\+\+{variable}\b|\+\+\(.*\b{variable}\b.*\)", text):
                complaints.append(f"{path}: does not count {variable}")
            if f"{shown} -" not in test:
                complaints.append(f"test/Transforms/statistics.test: does not look at {shown} of {argument}")
        if not re.search(rf"^\w+: {re.escape(argument)}$", test, re.M):
            complaints.append(f"test/Transforms/statistics.test: does not look at {argument}")
    return complaints


def main():
    root = sys.argv[1]
    sources = {os.path.relpath(path, root): read(root, os.path.relpath(path, root))
               for top in ("lib", "tools") for kind in ("cpp", "h")
               for path in glob.glob(os.path.join(root, top, "**", f"*.{kind}"), recursive=True)}
    definitions = {}
    for folder in FOLDERS:
        definitions |= passes_of(read(root, f"{folder}/Passes.td"))
    complaints = check(sources, definitions, read(root, "test/Transforms/statistics.test"))
    print("\n".join(complaints) or f"{len(definitions)} passes, no complaint")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
