#!/usr/bin/env python3
"""bare_root.py PIP WHEELS [PYTHONS...]: the wheels in a root folder that has Python, the C and C++ libraries and NumPy, and no
environment, and in virtual environments of other Pythons, without an environment.

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

MLIR = f"""
from nanobragg import compiler
from nanobragg.mlir import ir, passmanager
from nanobragg.mlir.dialects import nb
names = []
def note(op):
    names.append(op.name)
    return ir.WalkResult.ADVANCE
with ir.Context() as context, ir.Location.unknown():
    nb.register_dialect(context)
    module = ir.Module.parse(compiler.emit("{FLAGS}"))
    module.operation.walk(note)
    assert names.count("nb.lattice_factor") == 1, names
    before = compiler.kernel("{FLAGS}").image()
    passmanager.PassManager.parse("builtin.module(nb-hoist-invariants,cse)").run(module.operation)
    after = compiler.kernel("{FLAGS}", program=module).image()
assert before.max() > 0 and abs(before - after).max() <= 1e-9 * before.max()
try:
    import nanobragg.mlir
    nanobragg.mlir.load_plugin(ir.Context(), "/own.so")
except ImportError as error:
    assert "own.so" in str(error), error
else:
    assert False
print(f"walked over {{len(names)}} ops")
"""
NEXUS = f"""
import numpy as np
from nanobragg import read_image, Simulator
np.testing.assert_allclose(read_image("x.nxs"), Simulator.from_flags("{FLAGS}").image(), rtol=1e-6)
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


def runs(python, where, cwd, mlir=True):
    """Do the programs run by these words? Files are written to the working directory."""
    for command in (["-c", PROGRAM], *([["-c", MLIR]] if mlir else []),
                    ["-m", "nanobragg.simulate", *FLAGS.split(), "-nopgm", "-nonoise", "-intfile", "x.img", "-floatfile", "x.bin",
                     "--nexus=x.nxs"],
                    ["-c", NEXUS]):
        done = subprocess.run([*python, *command], cwd=cwd, env={"PATH": "/nonexistent"}, capture_output=True, text=True)
        print("\n".join(line for line in done.stdout.splitlines() if line.startswith(("imported", "compiled", "NeXus", "walked"))))
        if done.returncode != 0:
            print(f"FAILED in {where}:", " ".join(command)[:200], done.stdout, done.stderr)
            return False
    return True


def run_in_environment(python, wheels):
    """An empty virtual environment of this Python."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        subprocess.run([f"{folder}/venv/bin/pip", "install", "-q", "--find-links", wheels, "nanobragg[mlir]"], check=True)
        print(subprocess.run([python, "--version"], capture_output=True, text=True).stdout.strip())
        return runs([f"{folder}/venv/bin/python"], f"an environment of {python}", folder)


def main():
    pip, wheels = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if not all([run_in_environment(python, wheels) for python in sys.argv[3:]]):
        return 1
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    enter = [chroot] if os.geteuid() == 0 else [shutil.which("unshare"), "--user", "--map-root-user", chroot]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make_root(root)
        inside = [*enter, str(root), "/usr/bin/python3"]
        tried = subprocess.run([*inside, "-c", "print('in')"], cwd="/", env={}, capture_output=True, text=True)
        if tried.returncode != 0:
            print(f"skipped: no bare root can be entered here: {tried.stderr.strip()}")
            return 0
        packages = root / "usr/lib/python3/dist-packages"
        # The wheel of this Python alone: it brings the compiler.
        subprocess.run([pip, "download", "-q", "--no-index", "--no-deps", "--find-links", wheels, "-d", root / "tmp", "nanobragg"], check=True)
        package, = (root / "tmp").glob("*.whl")
        subprocess.run([pip, "install", "-q", "--find-links", wheels, "--target", packages, f"{package}[mlir]"], check=True)
        for terms in ("nanobragg/licenses/libhdf5-dev.txt", "nanobragg_compiler/licenses/llvm-22-dev.txt", "nanobragg_mlir/licenses/libmlir-22-dev.txt"):
            if pathlib.Path("/usr/share/doc", pathlib.Path(terms).stem).exists() and not (packages / terms).exists():
                print(f"FAILED: the wheels lack {terms}")
                return 1
        if not runs(inside, "the bare root", "/"):
            return 1
        if (root / "x.bin").stat().st_size != 64 * 64 * 4:
            print("FAILED: nb-sim wrote another image")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
