"""commands_test.py NB_SIM: what pages show, as far as it can be checked without running it. Every flag of every nb-sim command
is one that the program has, every block of Python is Python, and every file of the repository that a command names exists.

docs/trust.md says which pages' commands are run as well, and by which tests."""

import ast
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NB_SIM = sys.argv.pop(1)
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.parts)]


def blocks(page, language):
    for match in re.finditer(rf"^( *)```{language}\n(.*?)^ *```", page.read_text(), re.M | re.S):
        yield textwrap.dedent(match[2])


def flags():
    """All spellings, and the beginnings of those that may go on."""
    listed = subprocess.run([NB_SIM, "--list-flags"], capture_output=True, text=True, check=True).stdout
    rows = [row.split(" | ") for row in listed.splitlines() if row.startswith("| `-")]
    names = {re.split(r"[ =[]", name)[0] for row in rows for name in re.findall(r"`(-[^`]+)`", " ".join(row[:2]))}
    return {name for name in names if not name.endswith("*")}, tuple(n[:-1] for n in names if n.endswith("*"))


def is_number(word):
    return re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", word)


class Commands(unittest.TestCase):
    def test_flags(self):
        known, beginnings = flags()
        commands = 0
        for page in PAGES:
            for block in blocks(page, "sh"):
                for line in block.replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True) if line.count('"') % 2 == 0 and line.count("'") % 2 == 0 else []
                    if "nb-sim" not in words[:4]:
                        continue
                    commands += 1
                    for word in words[words.index("nb-sim") + 1:]:
                        if word in ("&&", "|", ";", ">"):
                            break
                        name = word.split("=")[0].split("[")[0]
                        if not name.startswith("-") or is_number(name) or "{" in name:
                            continue
                        with self.subTest(page=page.name, flag=name):
                            self.assertTrue(name in known or name.startswith(beginnings), f"{page}: nb-sim has no {name}")
        self.assertGreater(commands, 30)

    def test_python(self):
        count = 0
        for page in PAGES:
            for block in blocks(page, "python"):
                count += 1
                with self.subTest(page=page.name):
                    ast.parse(block)
        self.assertGreater(count, 10)

    def test_lengths(self):
        """A how-to has at most 150 lines, any page that is written by hand 250; a section of the sidebar has ten entries."""
        sections = re.findall(r":caption: (.*)\n:maxdepth: 1\n\n((?:.+\n)+)```", (ROOT / "docs/index.md").read_text())
        self.assertGreater(len(sections), 5)
        how_to = [name for title, names in sections if title not in ("Reference", "Background", "Project") for name in names.split()]
        for title, names in sections:
            with self.subTest(section=title):
                self.assertLessEqual(len(names.split()), 10)
        for page in PAGES:
            name = str(page.relative_to(ROOT)).removeprefix("docs/").removesuffix(".md")
            if "rationale" not in page.parts:
                with self.subTest(page=name):
                    most = 150 if name in how_to and name != "architecture" else 250
                    self.assertLessEqual(len(page.read_text().splitlines()), most)

    def test_files(self):
        for page in PAGES:
            for block in blocks(page, "sh"):
                for path in re.findall(r"(?:^|[\s=/:])((?:docs|test)/[\w./-]+\.\w+)", block):
                    with self.subTest(page=page.name, path=path):
                        self.assertTrue((ROOT / path).exists(), f"{page}: there is no {path}")


if __name__ == "__main__":
    unittest.main()
