"""python -m nanobragg.cctbx --path prints the folder for PYTHONPATH."""

import sys

from . import path

if sys.argv[1:] == ["--path"]:
    print(path())
else:
    sys.exit("usage: python -m nanobragg.cctbx --path\nprints the folder that, on PYTHONPATH, gives cctbx its simtbx_nanoBragg_ext")
