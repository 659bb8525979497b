#!/usr/bin/env python3
"""Finds sentences in the pages that are hard to read.

    words.py ROOT

Three kinds: code that acts like a person, the project's diary, and sentences of more than LONGEST
words. Tables, code and generated pages are not read. Exit status 1 with a line for each."""

import os
import re
import sys

from format import GENERATED, files

LONGEST = 48
# Pages may tell how something was measured, so dates and machines are allowed.
WORDS = {
    r"(the|a|our|its) (code|compiler|kernel|pass|program|library|tool|parser|test|runtime|cache)"
    r" (wants|hates|likes|loves|thinks|believes|hopes|refuses to be|is happy|is afraid|is proud|dreams)":
        "code is no person; say what it does",
    r"\b(we|I) (first|then|finally|later|eventually) (tried|thought|found|decided|noticed|wrote)\b":
        "a diary; say what holds now",
    r"\b(yesterday|last (week|night|month|session)|this (morning|session|week)|last evening)\b":
        "a diary; give the date or leave it out",
    r"\b(turned out to be|as luck would have it|needless to say|of course|obviously|simply put)\b":
        "leave it out",
    r"\b(utili[sz]e|leverage|in order to|due to the fact that|with regard to|aforementioned)\b":
        "use the short word",
}
CODE = re.compile(r"^\s*(```|~~~)")


def sentences(text):
    """(line, sentence) of the prose of a page."""
    fence, begin, words = False, 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if CODE.match(line):
            fence = not fence
        prose = not fence and line.strip() and not re.match(r"\s*(\||#|!\[|<!--|```|\$\$|    )", line)
        if re.match(r"\s*([-*]|\d+\.) ", line) or not prose:
            if words:
                yield begin, " ".join(words)
            words = []
        if not prose:
            continue
        for part in re.split(r"(?<=[.!?:])\s+", line.strip()):
            if not words:
                begin = number
            words.append(part)
            if part.endswith((".", "!", "?", ":")):
                yield begin, " ".join(words)
                words = []


def complaints(text):
    for number, sentence in sentences(text):
        length = len(re.sub(r"\([^)]*\)|`[^`]*`", "x", sentence).split())
        if length > LONGEST:
            yield number, f"a sentence of {length} words: {sentence[:60]}..."
        for pattern, why in WORDS.items():
            if found := re.search(pattern, sentence, re.I):
                yield number, f"'{found[0]}': {why}"


def main():
    root, wrong, pages = sys.argv[1], 0, 0
    for path in files(root, (".md",)):
        if path.startswith(GENERATED):
            continue
        pages += 1
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, complaint in complaints(file.read()):
                print(f"{path}:{number}: {complaint}")
                wrong += 1
    print(f"{pages} pages, {wrong} complaints")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
