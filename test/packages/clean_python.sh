#!/usr/bin/env bash
# The wheels in a Debian that has Python and nothing else: the package brings the compiler, and the pages' first image, nb-refine,
# the examples and the notebooks run. By hand, since it needs root, debootstrap, a network and minutes.
#   usage: test/packages/clean_python.sh WHEELS [SUITE]   (default: bookworm, with Python 3.11; trixie has 3.13)
set -euo pipefail

wheels=$(realpath "${1:?usage: $0 WHEELS [SUITE]}")
source=$(realpath "$(dirname "$0")/../..")
source "$source/test/packages/empty_root.sh"

make_root "${2:-bookworm}" python3-venv
expect "there is no compiler of C" bash -c "! ls '$root'/usr/bin | grep -q -E '^(gcc|cc|clang)'"
mkdir "$root/root/wheels" "$root/root/source"
cp "$wheels"/*.whl "$root/root/wheels/"
inside python3 -m venv /root/venv
expect "there is a wheel for this Python" inside pip install -q --no-index --no-deps --find-links /root/wheels nanobragg
expect "pip installs what it needs" inside pip install -q --find-links /root/wheels nanobragg
expect "that brought the compiler" inside pip show nanobragg-compiler
expect "nb-sim says its version" inside nb-sim --version
expect "nb-refine says its flags" inside nb-refine --help
expect "all of nb-refine is imported" inside python -c '
import importlib, pkgutil, nanobragg.refine
names = [m.name for m in pkgutil.walk_packages(nanobragg.refine.__path__, "nanobragg.refine.") if "__main__" not in m.name]
assert len(names) > 10, names
[importlib.import_module(name) for name in names]'
expect "a kernel is compiled" inside python -c '
import nanobragg as nb
sim = nb.Simulator.from_flags("-cell 70 80 90 90 90 90 -default_F 1 -N 5 -detpixels 64")
assert sim.image().sum() > 0 and sim.engine == "fused" and nb.counters()["compiles"] == 1'

cd "$source"
cp -r --parents -t "$root/root/source" docs test/data test/site test/Python/examples_test.py README.md
mkdir -p "$root/root/source/build"
ln -s /root/venv "$root/root/source/build/venv"
expect "the commands of the first image run" inside python /root/source/test/site/first_image_test.py /root/source/build
expect "matplotlib is installed" inside pip install -q matplotlib
expect "examples and notebooks run" inside python /root/source/test/Python/examples_test.py /root/source/docs/examples/python
grep -E "skipped|^Ran" "$work/said"
