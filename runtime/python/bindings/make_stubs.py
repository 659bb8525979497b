"""Writes the types of nanobragg/experiment.py, whose fields come from the table of quantities.

    make_stubs.py OUTPUT

With the package in PYTHONPATH. mypy and editors read the result in place of experiment.py.
"""

import dataclasses
import sys

from nanobragg import _core, experiment

HEAD = '''"""Types of experiment.py, made by make_stubs.py of the table of quantities."""

import os
from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy.typing

from ._core import Panel as Panel, Request

_Number = Union[float, numpy.floating[Any]]
_Numbers = Union[Sequence[_Number], numpy.typing.NDArray[Any]]
_Path = Union[str, os.PathLike[str]]
'''

# Fields that are no quantities of the table.
OTHERS = {
    "Crystal.rotation": "numpy.typing.ArrayLike", "Crystal.matrix": "numpy.typing.ArrayLike",
    "Crystal.real_space": "numpy.typing.ArrayLike", "Crystal.hkl": "_Path",
    "Crystal.structure_factors": "Any",
    "Beam.sources": "Sequence[Sequence[_Number]] | numpy.typing.NDArray[Any]", "Beam.sourcefile": "_Path", "Beam.spectrum": "_Path",
    "Beam.background": "Background | _Path | Sequence[Background | _Path]",
    "Detector.mask": "numpy.typing.ArrayLike", "Detector.gain_map": "numpy.typing.ArrayLike | _Path",
    "Detector.panels": "Sequence[Panel] | _Path", "Detector.material": "str", "Detector.efficiency": "numpy.typing.ArrayLike | _Path", "Expt.file": "_Path",
}


def type_of(name, kind, takes):
    """The type of a quantity's field."""
    if kind == "choice":
        words = [word for word in takes if word not in ("yes", "no")]
        switch = ["bool"] if {"yes", "no"} & set(takes) else []
        return " | ".join(switch + ([f"Literal[{', '.join(repr(w) for w in words)}]"] if words else []))
    one = "int" if kind == "whole" else "_Number"
    many = "Sequence[int]" if kind == "whole" else "_Numbers"
    choices = ([one] if 1 in takes else []) + ([many] if max(takes) > 1 else [])
    return " | ".join(choices + (['Literal["random"]'] if name == "Crystal.misset" else []))


def stub_of(part, types):
    fields = [(f.name, types.get(f"{part.__name__}.{f.name}") or OTHERS[f"{part.__name__}.{f.name}"]) for f in dataclasses.fields(part)]
    yield f"\n\nclass {part.__name__}(_Part):"
    for name, type_ in fields:
        yield f"    {name}: {type_} | None"
    yield "    def __init__(self, *"
    yield "".join(f", {name}: {type_} | None = None" for name, type_ in fields) + ") -> None: ..."


def main(output):
    types = {name: type_of(name, kind, takes) for name, kind, takes, *_ in _core.quantities()}
    lines = [HEAD, "\nclass _Part:\n    def give(self, request: Request) -> None: ...\n",
             "\nclass Background:\n    stol: numpy.typing.ArrayLike\n    factor: numpy.typing.ArrayLike\n    thickness: float | None\n"
             "    density: float | None\n    molar_mass: float | None\n"
             "    def __init__(self, *, stol: numpy.typing.ArrayLike, factor: numpy.typing.ArrayLike, thickness: float | None = None, "
             "density: float | None = None, molar_mass: float | None = None) -> None: ...\n",
             "\ndef random_misset(count: int | None = None, seed: int | numpy.random.Generator | None = None) -> numpy.typing.NDArray[numpy.float64]: ...",
             "def random_rotation(seed: int | None = None) -> numpy.typing.NDArray[numpy.float64]: ..."]
    for part in (experiment.Crystal, experiment.Beam, experiment.Detector, experiment.Goniometer, experiment.Expt):
        *body, init, arguments = stub_of(part, types)
        lines += [*body, init + arguments]
        if part is experiment.Detector:
            lines.append("    @classmethod\n    def plane(cls, origin: _Numbers, fast_axis: _Numbers, slow_axis: _Numbers, shape: tuple[int, int], "
                         "pixel_size: float, **fields: Any) -> Detector: ...")
    with open(output, "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
