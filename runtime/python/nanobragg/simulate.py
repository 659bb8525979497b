"""nb-sim, the command line: ``nb-sim FLAGS`` where pip installed it, or ``python -m nanobragg.simulate FLAGS``."""

import os
import sys

from . import _compiler_folders, _core


def main():
    """Runs the package's nb-sim in place of this process."""
    program = os.path.join(os.path.dirname(_core.__file__), "bin", "nb-sim")
    if not os.path.exists(program):
        sys.exit("nb-sim: this package was built without nb-sim, for want of CLI11 (Debian: libcli11-dev); build it again with it")
    for folder in _compiler_folders():
        os.environ.setdefault("NB_COMPILER_LIBRARY", os.path.join(folder, "libnb-compiler.so"))
    os.execv(program, ["nb-sim", *sys.argv[1:]])


if __name__ == "__main__":
    main()
