#!/usr/bin/env python3
"""man.py NAME SUMMARY: turns what NAME --help prints, on standard input, into its manual page.

A line without indentation that ends in ":" begins a section. An entry is indented by two blanks,
with its text after two more or on the following, deeper lines."""

import re
import sys

ENTRY = re.compile(r"  (?P<tag>\S.*?)(?:  +(?P<text>\S.*))?$")
USAGE = re.compile(r"(?:usage:|Usage:|       (?=nb-)) *(.*)")
MORE_USAGE = re.compile(r" {10,}(\S.*)")

LAST = ("NOTES", "EXIT STATUS")


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def sections_of(help_text):
    sections = {"SYNOPSIS": [], "DESCRIPTION": []}
    current, begin_paragraph = "DESCRIPTION", False
    in_usage = False
    for line in help_text.splitlines():
        if in_usage and (more := MORE_USAGE.match(line)):
            sections["SYNOPSIS"][-1:] = ["    " + escaped(more[1]), ".fi"]
            continue
        usage, entry = USAGE.match(line), ENTRY.match(line)
        in_usage = bool(usage)
        out = sections[current]
        if not line.strip():
            begin_paragraph = True
            # Lines behind the last entry are no longer about entries.
            if out and current != "DESCRIPTION":
                current = "NOTES"
                sections.setdefault(current, [])
            continue
        if usage:
            sections["SYNOPSIS"] += [".nf", escaped(usage[1]), ".fi"]
        elif re.match(r"\S.*:$", line):
            current = escaped(line[:-1].upper() if len(line) < 40 else line[:-1])
            sections.setdefault(current, [])
        elif entry:
            out += [".TP", f".B {escaped(entry['tag'])}"]
            if entry["text"]:
                out.append(escaped(entry["text"]))
        elif line.startswith(" "):
            out.append(escaped(line.strip()))
        else:
            if line.startswith("Exit status: "):
                current = "EXIT STATUS"
                line = line.split(": ", 1)[1]
                out = sections.setdefault(current, [])
            elif begin_paragraph and out:
                out.append(".PP")
            out.append(escaped(line))
        begin_paragraph = False
    return sections


def page(name, summary, help_text):
    lines = [f'.\\" Generated from {escaped(name + " --help")}; do not edit.',
             f'.TH {name.upper()} 1 "" nanobragg', ".SH NAME",
             f"{escaped(name)} \\- {escaped(summary)}"]
    sections = sections_of(help_text)
    for title in (*(t for t in sections if t not in LAST), *LAST):
        if content := sections.get(title):
            lines += [f".SH {title}" if title.isupper() else f".SS {title}", *content]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1], sys.argv[2], sys.stdin.read()))
