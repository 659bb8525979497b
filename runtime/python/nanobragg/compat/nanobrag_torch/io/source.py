"""Lists of sources."""

import warnings

import torch


def read_sourcefile(filepath, default_wavelength_m, default_source_distance_m=10.0, beam_direction=None, dtype=None, device="cpu"):
    """(unit vectors (N, 3) from the sample to the sources, weights (N,), wavelengths (N,) in m) of
    lines X Y Z [weight [wavelength]].

    As in the port, and the C program, wavelengths of the file have no effect: all sources have the
    default one, and a warning says so where the file has another. Weights are returned, and the
    simulator takes all sources as equal.
    """
    dtype = torch.get_default_dtype() if dtype is None else dtype
    rows = []
    with open(filepath) as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            try:
                row = [float(w) for w in words]
            except ValueError:
                raise ValueError(f"{filepath}:{number}: not a line of numbers X Y Z [weight [wavelength]]") from None
            if row:
                rows.append(row)
    if not rows:
        raise ValueError(f"{filepath}: No valid source lines found")
    if any(len(row) > 4 and abs(row[4] - default_wavelength_m) > 1e-12 * default_wavelength_m for row in rows):
        warnings.warn(f"{filepath}: sourcefile wavelength column differs from the wavelength of the beam and is ignored; all sources "
                      f"have {default_wavelength_m:.6e} m", UserWarning, stacklevel=2)
    position = torch.tensor([(row + [0.0, 0.0])[:3] for row in rows], dtype=dtype, device=device)
    weights = torch.tensor([row[3] if len(row) > 3 else 1.0 for row in rows], dtype=dtype, device=device)
    return (position / torch.linalg.norm(position, dim=1, keepdim=True), weights,
            torch.full_like(weights, default_wavelength_m))
