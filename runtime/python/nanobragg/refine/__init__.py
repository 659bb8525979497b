"""Refinement of stills: orientation, cell, scale and more of each shot, against the pixels of its
shoeboxes.

    from nanobragg import refine
    results = refine.shots(flags, "indexed.expt", "indexed.refl", out="refined")

or ``python -m nanobragg.refine``. See docs/refinement.md. Needs scipy, threadpoolctl, and
msgpack for reflection tables.
"""

import warnings

from .._errors import Warning

# A fit tries numbers that are unusual. The warnings of callers stay.
warnings.filterwarnings("ignore", ".* is unusual; most are ", Warning, r"nanobragg\.refine\.")

try:
    from ._crystal import CELL_SYSTEMS, OrientedCell
    from ._response import Response
    from ._shot import METHODS, Result, refine_shot
    from .index import index
    from .shared import SharedResult, shared
    from .shots import shots
    from .sweeps import Sweep, sweeps
except ModuleNotFoundError as error:
    if (missing := error.name.partition(".")[0]) not in ("scipy", "threadpoolctl"):
        raise

    def __getattr__(name):
        if name in __all__:
            raise ImportError(f"refinement needs {missing}: pip install {missing}")
        raise AttributeError(f"nanobragg.refine has no {name}")

__all__ = ["CELL_SYSTEMS", "METHODS", "OrientedCell", "Response", "Result", "SharedResult", "Sweep", "index", "refine_shot", "shared", "shots",
           "sweeps"]
