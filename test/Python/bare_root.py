#!/usr/bin/env python3
"""bare_root.py PIP WHEELS: the wheels in a root folder that has Python, the C and C++ libraries and NumPy, and no environment.

Run by `./bootstrap python`. Says why where such a root cannot be entered.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

FLAGS = "-cell 70 80 90 90 90 90 -default_F 1 -N 5 -detpixels 64 -oversample 1"
PROGRAM = f"""
import time
begin = time.perf_counter()
import nanobragg as nb
seconds = time.perf_counter() - begin
sim = nb.Simulator.from_flags("{FLAGS}")
image, gradient = sim.image(), sim.gradient("cell")
assert image.sum() > 0 and set(gradient) == {{f"cell_{{n}}" for n in ("a", "b", "c", "alpha", "beta", "gamma")}}
assert sim.engine == "fused" and nb.counters()["compiles"] == 2, nb.counters()
from nanobragg import compiler
text = compiler.emit("{FLAGS}")
assert compiler.run(text).passes and "fuse" in compiler.stages("{FLAGS}") and "ret" in compiler.assembly("{FLAGS}")
for own in ({{"pipeline": "builtin.module(nb-hoist-invariants,cse)"}}, {{"program": text}}):
    assert abs(compiler.kernel("{FLAGS}", **own).image() - image).max() <= 1e-9 * image.max()
right, wrong = compiler.judge("{FLAGS}", "builtin.module(nb-hoist-invariants,cse)", "builtin.module(nb-fuze)", gradient="usual")
assert right.right and right.ns > 0 and not wrong.right and "nb-fuze" in wrong.failure, (right, wrong)
assert nb.counts(image, 1).shape == image.shape
print(f"imported in {{seconds * 1e3:.0f}} ms, image and gradient of {{image.shape}} pixels")
"""


NEXUS = f"""
import numpy as np
from nanobragg import read_image, Simulator
np.testing.assert_allclose(read_image("/tmp/x.nxs"), Simulator.from_flags("{FLAGS}").image(), rtol=1e-6)
print("NeXus written and read")
"""


def libraries(files):
    """The shared libraries that these load, with the dynamic loader."""
    needed = set()
    for file in files:
        for line in subprocess.run(["ldd", file], capture_output=True, text=True).stdout.splitlines():
            needed |= {word for word in line.split() if word.startswith("/")}
    return needed


def make_root(root):
    """Python and its standard library."""
    python = pathlib.Path(os.path.realpath(sys.executable))
    standard = pathlib.Path(sysconfig.get_path("stdlib"))
    shutil.copytree(standard, root / standard.relative_to("/"), symlinks=False, ignore_dangling_symlinks=True,
                    ignore=shutil.ignore_patterns("dist-packages", "site-packages", "test", "idlelib", "ensurepip", "__pycache__", "config-*"))
    known = {}  # by name; of all that the loader knows, the C and C++ libraries
    for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines():
        if " => " in line and ("x86-64" in line or "AArch64" in line):
            known.setdefault(line.split()[0], line.split()[-1])
    wanted = {known[n] for n in ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libstdc++.so.6")}
    for library in libraries([python, *standard.glob("lib-dynload/*.so"), *wanted]) | wanted:
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(python, root / "usr/bin/python3")
    (root / "tmp").mkdir()
    (root / "home").mkdir()


def main():
    pip, wheels = sys.argv[1], pathlib.Path(sys.argv[2])
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    enter = [chroot] if os.geteuid() == 0 else [shutil.which("unshare"), "--user", "--map-root-user", chroot]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_root(root)
        inside = [*enter, str(root), "/usr/bin/python3"]
        plain = {"cwd": "/", "env": {}, "capture_output": True, "text": True}
        tried = subprocess.run([*inside, "-c", "print('in')"], **plain)
        if tried.returncode != 0:
            print(f"skipped: no bare root can be entered here: {tried.stderr.strip()}")
            return 0
        packages = root / "usr/lib/python3/dist-packages"
        # The wheel of this Python alone: it brings the compiler.
        subprocess.run([pip, "download", "-q", "--no-index", "--no-deps", "--find-links", wheels, "-d", root / "tmp", "nanobragg"], check=True)
        package, = (root / "tmp").glob("*.whl")
        subprocess.run([pip, "install", "-q", "--find-links", wheels, "--target", packages, package], check=True)
        for terms in ("nanobragg/licenses/libhdf5-dev.txt", "nanobragg_compiler/licenses/llvm-22-dev.txt"):
            if pathlib.Path("/usr/share/doc", pathlib.Path(terms).stem).exists() and not (packages / terms).exists():
                print(f"FAILED: the wheels lack {terms}")
                return 1
        for command in (["-c", PROGRAM],
                        ["-m", "nanobragg.simulate", *FLAGS.split(), "-nopgm", "-nonoise", "-intfile", "/tmp/x.img", "-floatfile", "/tmp/x.bin",
                         "--nexus=/tmp/x.nxs"],
                        ["-c", NEXUS]):
            done = subprocess.run([*inside, *command], **plain)
            print("\n".join(line for line in done.stdout.splitlines() if line.startswith(("imported", "compiled", "NeXus"))))
            if done.returncode != 0:
                print("FAILED in the bare root:", " ".join(command)[:200], done.stdout, done.stderr)
                return 1
        if (root / "tmp/x.bin").stat().st_size != 64 * 64 * 4:
            print("FAILED: nb-sim wrote another image")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
