"""Runs nb-sim for a test and reads back what it made."""

import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

NOTICE = re.compile(r"(NOTE: )?default semantics differ")
BINARY = os.environ.get("NB_SIM", "nb-sim")
# The C program itself can stand in, to check the expectations that carry -compat c.
IS_C_PROGRAM = bool(os.environ.get("NB_SIM_IS_C"))


class Result:
    def __init__(self, folder, console):
        self.folder, self.console = folder, console
        self.differs = [line for line in console.splitlines() if NOTICE.match(line)]
        pixels = np.fromfile(os.path.join(folder, "out.bin"), "<f4").astype(float)
        side = round(pixels.size**0.5)
        self.image = pixels.reshape(side, side) if side * side == pixels.size else pixels

    def number(self, pattern):
        """The number that the console prints after a pattern."""
        match = re.search(pattern + r"\s*(-?[\d.]+(?:e[-+]?\d+)?)", self.console)
        if not match:
            raise AssertionError(f"console has no '{pattern}':\n{self.console}")
        return float(match.group(1))

    def numbers(self, pattern, count):
        match = re.search(pattern + r"\s*" + r"\s+".join([r"(-?[\d.]+(?:e[-+]?\d+)?)"] * count),
                          self.console)
        if not match:
            raise AssertionError(f"console has no '{pattern}':\n{self.console}")
        return np.array([float(x) for x in match.groups()])

    def smv(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            data = file.read()
        size = int(re.search(rb"HEADER_BYTES=\s*(\d+)", data[:512]).group(1))
        return np.frombuffer(data[size:], "<u2").astype(int)


def simulate(test, arguments, semantics="default", files=None):
    """One run in an empty folder. `files`: name -> text or bytes, written there first. A run of the default
    semantics that is asked of the C program skips the test."""
    if IS_C_PROGRAM and semantics == "default":
        test.skipTest("the C program has no default semantics")
    folder = tempfile.mkdtemp(prefix="nb-quirk-")
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    for name, content in (files or {}).items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    command = [BINARY, "-floatfile", "out.bin", "-intfile", "out.img", "-nopgm"]
    if "-noisefile" not in arguments:
        command.append("-nonoise")
    if semantics == "c" and not IS_C_PROGRAM:
        command += ["-compat", "c"]
    command += [str(a) for a in arguments]
    run = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if run.returncode:
        test.fail(f"{' '.join(command)}\nexit status {run.returncode}\n{run.stdout}")
    return Result(folder, run.stdout)
