#!/usr/bin/env python3
"""Finds sentences that are hard to read.

    words.py ROOT

Five kinds: code that acts like a person, the project's diary, clutter, sentences of more than
LONGEST words, and comments that open with a fragment. It reads the pages, also generated ones
(descriptions of ops and passes, help texts), and the comments and docstrings of C++, TableGen and
Python. Tables and code are left out. Exit status 1 with a line for each."""

import ast
import io
import os
import re
import sys
import tokenize

from format import files

LONGEST = 48
# Pages may tell how something was measured, so dates and machines are allowed.
WORDS = {
    r"\b(code|compiler|kernels?|pass(es)?|programs?|library|tools?|parser|tests?|runtime|cache|op|interpreter|server"
    r"|process|nb-[a-z]+)`? (wants?|hates?|likes|loves?|thinks?|believes?|hopes?|knows?|sees?|cares?|wish(es)?|prefers?"
    r"|trusts?|remembers?|forgets?|complains?|worries|notices?|understands?|dreams?|is (happy|afraid|proud)"
    r"|refuses to be)\b":
        "code is no person; say what it does",
    r"\b(we|I) (first|then|finally|later|eventually) (tried|thought|found|decided|noticed|wrote)\b":
        "a diary; say what holds now",
    r"\b(yesterday|last (week|night|month|session)|this (morning|session|week)|last evening|until now|at the moment"
    r"|nowadays|currently|used to be|in the meantime)\b":
        "a diary; say what holds now, or give the date",
    r"\b(turned out to be|as luck would have it|needless to say|of course|obviously|simply put|basically|actually"
    r"|it (is|was|should be|can be) (noted|seen|assumed|expected|known|found|observed|recommended) that)\b":
        "leave it out",
    r"\b(utili[sz]e|leverage|in order to|due to the fact that|with regard to|aforementioned|make(s)? use of"
    r"|(is|are) able to|in terms of|prior to|subsequently|functionality|facilitate|whilst|thereof|thereby|hence|thus)\b":
        "use the short word",
    r"\b(under the hood|out of the box|boilerplate|footgun|gotcha|seamless(ly)?|blazing(ly)?|state[- ]of[- ]the[- ]art"
    r"|battle-tested|bleeding edge|low-hanging|rabbit hole)\b":
        "jargon; say what is meant",
}
FRAGMENT = re.compile(r"(?:^|[.:;!?] )(Of|Those of|That of|What)\b")
COMMENT = re.compile(r"""((?:[^"/]|/(?![/*])|"(?:\\.|[^"\\])*")*?)(?://+<? ?|/\*+ ?|^ \* )(.*?)(?:\*/)?$""")
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


def marked(path, text):
    """(line, comment, code before it?) for each line of a comment."""
    if path.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("#: "), token.line[:token.start[1]].strip()
        return
    for number, line in enumerate(text.split("\n"), 1):
        if found := COMMENT.match(line):
            yield number, found[2], found[1].strip()


def prose(path, text):
    """(line, text) of the page, or of each comment and docstring of the source."""
    if path.endswith(".md"):
        yield 1, text
        return
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                begin = node.body[0]
                yield begin.lineno, re.sub(f"^ {{{begin.col_offset}}}", "", begin.value.value, flags=re.M)
    begin, lines = 0, []
    for number, comment, code in marked(path, text):
        if lines and (code or number != begin + len(lines)):
            yield begin, "\n".join(lines)
            lines = []
        if not lines:
            begin = number
        lines.append(comment)
    if lines:
        yield begin, "\n".join(lines)


def fragments(comment):
    """Openings of a comment, and of sentences in it, that say nothing without the code beside."""
    for number, line in enumerate(comment.strip().split("\n")):
        if number == 0 and FRAGMENT.match(line.capitalize()) or FRAGMENT.search(line.strip()):
            yield number, f"'{line.strip()[:40]}': a fragment; name what it is about"


def complaints_of(path, content):
    for begin, part in prose(path, content):
        # Indented lines of a comment are formulas, tables and commands.
        text = part if path.endswith(".md") else re.sub(r"^  .*", "", part, flags=re.M)
        for number, complaint in complaints(text):
            yield begin + number - 1, complaint
        if not path.endswith(".md"):
            for number, complaint in fragments(part):
                yield begin + number, complaint


def main():
    root, wrong, read = sys.argv[1], 0, 0
    for path in files(root, (".md", ".h", ".cpp", ".td", ".py")):
        read += 1
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, complaint in complaints_of(path, file.read()):
                print(f"{path}:{number}: {complaint}")
                wrong += 1
    print(f"{read} files, {wrong} complaints")
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main())
