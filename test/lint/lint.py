#!/usr/bin/env python3
"""Finds tests that check nothing.

    lint.py DIRECTORY...

FileCheck ignores a directive that it does not know, and MLIR's diagnostic verifier ignores an
expectation that it cannot parse, so that a typing error turns a test off without a word. This reads
every lit test below the directories and reports each such line. Exit status 1 when there are any."""

import os
import re
import sys

SUFFIXES = (".mlir", ".ll", ".test")
# Folders that lit does not look into; keep in step with lit.cfg.py.
IGNORED_FOLDERS = ("Inputs",)

COMMENT = re.compile(r"(?://|;|#)\s?(.*)$")
# In .test files directives stand without a comment sign.
RUN = re.compile(r"^\s*(?://|;|#)?\s*RUN:\s?(.*)$")
SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?"
DIRECTIVE_LIKE = re.compile(r"^\s*(?://|;|#)?\s*([A-Za-z][A-Za-z0-9_-]*)(\{[A-Z]+\})?\s*(:?)")
DIRECTIVE_SUFFIX = re.compile(r"-(NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT(-\d+)?)$")
# The form that mlir-opt's verifier accepts; it must end the line.
EXPECTATION = re.compile(
    r"expected-(error|note|remark|warning)(-re)? *(@([+-]\d+|above|below|unknown))? *\{\{.*\}\}$")
EXPECTATION_LIKE = re.compile(r"\b([A-Za-z]+[-_ ]?(?:error|note|remark|warning|[A-Za-z]+)(?:-re)?)"
                              r" *(?:@\S+)? *\{\{")
LIT_KEYWORDS = ("RUN", "XFAIL", "REQUIRES", "UNSUPPORTED", "END", "ALLOW_RETRIES", "DEFINE",
                "REDEFINE")
# Upper-case words that open ordinary comments.
PROSE = ("NOTE", "TODO", "FIXME", "SPDX-LICENSE-IDENTIFIER")


def edit_distance(a, b):
    """Levenshtein distance, a transposition counting as one."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def run_lines(lines):
    """The RUN commands, continuation lines joined."""
    commands, pending = [], ""
    for line in lines:
        match = RUN.match(line)
        if not match:
            continue
        text = match.group(1).rstrip()
        if text.endswith("\\"):
            pending += text[:-1] + " "
        else:
            commands.append(pending + text)
            pending = ""
    return commands + ([pending] if pending else [])


def check_prefixes(commands):
    """The prefixes that the FileCheck calls of these commands look for."""
    prefixes = set()
    for command in commands:
        for call in re.findall(r"\bFileCheck\b([^|&;]*)", command):
            given = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", call)
            prefixes.update(p for text in given for p in text.split(","))
            if not given:
                prefixes.add("CHECK")
    return prefixes


def lint_text(text):
    """(line number, message) for each problem of one test file."""
    lines = text.splitlines()
    problems = []
    commands = run_lines(lines)
    if not commands:
        return [(1, "no RUN line: this test never runs")]
    prefixes = check_prefixes(commands)
    used = set()
    joined = " ".join(commands)
    verifies = re.search(r"--?verify-diagnostics\b", joined)
    if re.search(r"--?verify-diagnostics=only-expected", joined):
        problems.append((1, "--verify-diagnostics=only-expected accepts a misspelt expectation; "
                            "use --verify-diagnostics"))

    for number, line in enumerate(lines, 1):
        problems += lint_directive(number, line, prefixes, used)
        problems += lint_expectation(number, line, bool(verifies))

    for prefix in sorted(prefixes - used):
        problems.append((1, f"FileCheck looks for '{prefix}' but no {prefix} line exists"))
    return sorted(problems)


def lint_directive(number, line, prefixes, used):
    match = DIRECTIVE_LIKE.match(line)
    if not match:
        return []
    word, literal, colon = match.group(1), match.group(2) or "", match.group(3)
    for prefix in sorted(prefixes | {"CHECK"}, key=len, reverse=True):
        if re.fullmatch(re.escape(prefix) + SUFFIX, word + literal):
            if not colon:
                # Prose may say "CHECK that ..."; a directive with a suffix is never prose.
                if word == prefix and not literal:
                    return []
                return [(number, f"'{word}' has no colon and is ignored")]
            if prefix not in prefixes:
                return [(number, f"'{word}' but no RUN line calls FileCheck with prefix "
                                 f"'{prefix}'")]
            used.add(prefix)
            return []
    if word in LIT_KEYWORDS:
        if word == "RUN" and not colon:
            return [(number, "'RUN' has no colon and is ignored")]
        return []
    if not colon or word in PROSE or word != word.upper():
        if word != word.upper() or not DIRECTIVE_SUFFIX.search(word):
            return misspelt_lower(number, word, colon)
    suffix = DIRECTIVE_SUFFIX.search(word)
    if suffix:
        return [(number, f"'{word}': no RUN line calls FileCheck with prefix "
                         f"'{word[:suffix.start()]}'")]
    for known in sorted(prefixes | {"CHECK", "RUN"}):
        head = re.split(r"[-_]", word)[0]
        near = edit_distance(head, known) <= (2 if len(known) > 4 else 1)
        if near or word.startswith(known):
            return [(number, f"'{word}' is no directive; did you mean '{known}'?")]
    return []


def misspelt_lower(number, word, colon):
    """`// Check-next:` and the like."""
    if colon and re.match(r"(check|run)([-_]\w+)*$", word, re.IGNORECASE):
        return [(number, f"'{word}' is no directive; FileCheck and lit want upper case")]
    return []


def lint_expectation(number, line, verifies):
    match = COMMENT.search(line)
    if not match or RUN.match(line):
        return []
    comment = match.group(1).rstrip("\n")
    exact = EXPECTATION.search(comment)
    if exact:
        if verifies:
            return []
        return [(number, "an expected diagnostic, but no RUN line has -verify-diagnostics")]
    if re.search(r"\bexpected-(error|note|remark|warning)", comment):
        return [(number, "malformed expectation, which the verifier ignores: it must read "
                         "expected-KIND [@where] {{text}} and end the line")]
    for word in EXPECTATION_LIKE.findall(comment):
        for kind in ("error", "note", "remark", "warning"):
            if edit_distance(word.lower(), f"expected-{kind}") <= 4:
                return [(number, f"'{word}' is no expectation; did you mean 'expected-{kind}'?")]
    return []


def tests_below(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in IGNORED_FOLDERS)
        for name in sorted(files):
            if name.endswith(SUFFIXES):
                yield os.path.join(folder, name)


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    count = problems = 0
    for root in arguments:
        for path in tests_below(root):
            count += 1
            with open(path, encoding="utf-8") as file:
                for number, message in lint_text(file.read()):
                    problems += 1
                    print(f"{path}:{number}: {message}")
    print(f"{count} test files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
