#!/usr/bin/env python3
"""page_test.py NB_SIM COMPILER DOCS: the transcripts of the pages on profiling, debugging and options of MLIR, block by block, each
command as it stands."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from perf_test import reason

NB_SIM, COMPILER, DOCS = map(os.path.abspath, sys.argv[1:4])
PAGES = [pathlib.Path(DOCS, name).read_text() for name in ("profiling.md", "debugging.md", "mlir-options.md")]


def blocks(language):
    """Each once; profiling and debugging show the same experiment."""
    return list(dict.fromkeys(block for page in PAGES for block in re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)))


def commands(block, prompt):
    """Each command with the lines that it shows, as patterns."""
    found = []
    for line in block.splitlines():
        if line.startswith(prompt):
            found.append((line[len(prompt):], []))
        else:
            found[-1][1].append(".*".join(map(re.escape, line.split("..."))))
    return found


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-page-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, NB_COMPILER_LIBRARY=COMPILER, NB_CACHE_DIR=f"{self.folder}/cache",
                                DEBUGINFOD_URLS="", HOME=self.folder,
                                PATH=f"{os.path.dirname(NB_SIM)}:{os.environ['PATH']}")
        self.environment.pop("NB_CACHE", None)
        self.experiment = blocks("sh")[0]

    def shell(self, script):
        done = subprocess.run(["bash", "-c", self.experiment + script], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def shows(self, said, patterns):
        """All lines, in their order."""
        rest = said
        for pattern in patterns:
            found = re.search(rf"^ *{pattern}", rest, re.M)
            self.assertTrue(found, f"{pattern}\n{said}")
            rest = rest[found.end():]

    def test_trace(self):
        for command, shown in commands(self.transcript("--trace-events"), "$ "):
            self.shows(self.shell(command), shown)

    def test_flags_of_mlir(self):
        for command, shown in commands(self.transcript("--mlir-timing"), "$ "):
            with self.subTest(command):
                self.shows(self.shell(command + (" || true" if "tming" in command else "")), shown)

    def transcript(self, word):
        block, = [block for block in blocks("console") if word in block]
        return block

    def test_profile(self):
        (command, shown), = commands(self.transcript("--profile"), "$ ")
        self.shows(self.shell(command), shown)

    def test_numbers(self):
        for command, shown in commands(self.transcript("--emit=stats"), "$ "):
            with self.subTest(command):
                self.shows(self.shell(command), shown)

    @unittest.skipUnless(shutil.which("gdb"), "skipped: there is no gdb; install the Debian package of this name")
    def test_gdb(self):
        start, _, session = self.transcript("(gdb)").partition("\n")
        session = commands(session, "(gdb) ")
        orders = " ".join(f"-ex '{order}'" for order, _ in session)
        said = self.shell(start.removeprefix("$ ").replace("gdb -q", f"gdb -nx -batch {orders}"))
        self.shows(said, [line for _, shown in session for line in shown])

    @unittest.skipIf(reason(), reason())
    def test_perf(self):
        settings = ""
        for command, shown in commands(self.transcript("export NB_KERNEL_FILES"), "$ "):
            if command.startswith("export"):
                settings += command + "\n"
            else:
                with self.subTest(command):
                    self.shows(self.shell(settings + command), shown)

    def test_kernels_in_memory(self):
        """gdb and perf see the kernels of nb-run and nb-try."""
        os.mkdir(f"{self.folder}/kernels")
        settings = f"export NB_KERNEL_FILES={self.folder}/kernels JITDUMPDIR={self.folder}\n"
        self.shell("nb-sim $CRYSTAL --emit=nb > program.mlir")
        for command, shown in commands(self.transcript("perf inject"), "$ "):
            with self.subTest(command):
                if command.startswith("perf") and reason():
                    self.skipTest(reason())
                if command.startswith("gdb") and not shutil.which("gdb"):
                    self.skipTest("skipped: there is no gdb; install the Debian package of this name")
                self.shows(self.shell(settings + command), shown)
        program = sorted(pathlib.Path(self.folder, "kernels").glob("program-*.mlir"))[0]
        self.assertIn("nb.lattice_factor", program.read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
