"""Lists of structure factors."""

import numpy
import torch


def read_hkl_file(path, default_F=0.0, device=None, dtype=torch.float32):
    """The grid [h, k, l] of a file with lines h k l F, and its bounds: h_min, h_max, ... Nodes
    without a line have default_F."""
    rows = numpy.loadtxt(path, comments="#", ndmin=2, usecols=(0, 1, 2, 3))
    hkl = rows[:, :3].astype(int)
    low, high = hkl.min(axis=0), hkl.max(axis=0)
    grid = numpy.full(high - low + 1, float(default_F))
    grid[tuple((hkl - low).T)] = rows[:, 3]
    bounds = {f"{axis}_{end}": int(values[i]) for i, axis in enumerate("hkl") for end, values in (("min", low), ("max", high))}
    bounds.update({f"{axis}_range": int(high[i] - low[i] + 1) for i, axis in enumerate("hkl")})
    return torch.as_tensor(grid, device=device, dtype=dtype), bounds


def try_load_hkl_or_fdump(hkl_path=None, fdump_path=None, default_F=0.0, write_cache=False, device=None, dtype=torch.float32):
    """The grid of an hkl file; the port's binary cache is neither read nor written."""
    return read_hkl_file(hkl_path, default_F, device, dtype) if hkl_path else (None, None)
