"""The crystal: its cell as tensors. Formulas of nanoBragg.c: a* along X, b* in the X-Y plane."""

import warnings

import torch

from ..config import CrystalConfig
from ..io.hkl import read_hkl_file
from ..utils.geometry import angles_to_rotation_matrix, rotate_axis
from ..utils.units import degrees_to_radians


def as_tensor(value, like):
    """On like's device, of its dtype, with its gradient."""
    if isinstance(value, torch.Tensor):
        return value if value.dtype is like.dtype and value.device == like.device else value.to(device=like.device, dtype=like.dtype)
    return torch.as_tensor(value, device=like.device, dtype=like.dtype)


def number(value):
    """As a float, without its gradient."""
    return float(value.item()) if isinstance(value, torch.Tensor) else float(value)


class Crystal:
    """Cell, orientation and structure factors of a crystal. Lengths in A, angles in degrees."""

    def __init__(self, config=None, beam_config=None, device=None, dtype=torch.float32):
        self.device = torch.zeros((), device=device).device
        self.dtype = dtype
        self.config = config if config is not None else CrystalConfig()
        self.beam_config = beam_config
        if beam_config is not None and beam_config.beamsize_mm > 0:
            for name in ("sample_y", "sample_z"):
                size, beam = number(getattr(self.config, name)), beam_config.beamsize_mm / 1000.0
                if size > beam:
                    print(f"Warning: Clipping {name} from {size:.6e} m to beamsize {beam:.6e} m")
                    setattr(self.config, name, beam)
        self._take_config()
        self.hkl_data = None
        self.hkl_metadata = None
        self.interpolate = any(number(n) <= 2 for n in self.config.N_cells)
        self._check()

    def _take_config(self):
        like = torch.zeros((), device=self.device, dtype=self.dtype)
        for name in ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma"):
            setattr(self, name, as_tensor(getattr(self.config, name), like))

    # Images do not need them.
    N_cells_a, N_cells_b, N_cells_c = (property(lambda self, i=i: as_tensor(self.config.N_cells[i], self.cell_a)) for i in range(3))

    def to(self, device=None, dtype=None):
        self.device = torch.zeros((), device=device if device is not None else self.device).device
        self.dtype = dtype if dtype is not None else self.dtype
        for name in ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma", "hkl_data"):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.to(device=self.device, dtype=self.dtype))
        return self

    def _check(self):
        if any(x.item() <= 0 for x in (self.cell_a, self.cell_b, self.cell_c)):
            raise ValueError("Unit cell lengths must be positive")
        for name in ("alpha", "beta", "gamma"):
            angle = getattr(self, f"cell_{name}").item()
            if not 0 < angle < 180:
                raise ValueError(f"Unit cell angle {name} must be in range (0, 180) degrees")
            if angle < 1e-6 or angle > 180 - 1e-6:
                warnings.warn(f"Unit cell angle {name} is very close to 0 or 180 degrees", stacklevel=2)

    def load_hkl(self, hkl_path, write_cache=True):
        """Reads lines h k l F; no cache file is written."""
        self.hkl_data, self.hkl_metadata = read_hkl_file(hkl_path, self.config.default_F, self.device, self.dtype)

    def get_structure_factor(self, h, k, l):  # noqa: E741
        """F of the nearest reflection, default_F where there is none."""
        default = torch.full_like(h, float(self.config.default_F), device=self.device, dtype=self.dtype)
        if self.hkl_data is None or self.hkl_metadata is None:
            return default
        if self.interpolate:
            raise NotImplementedError("interpolation between structure factors is done in the kernel, Simulator.run(); there is "
                                      "no function for it here")
        bounds = self.hkl_metadata
        index = [torch.round(x).long() - bounds[f"{axis}_min"] for x, axis in ((h, "h"), (k, "k"), (l, "l"))]
        inside = torch.ones_like(h, dtype=torch.bool)
        for i, n in zip(index, self.hkl_data.shape):
            inside = inside & (i >= 0) & (i < n)
        i, j, m = (torch.clamp(x, 0, n - 1) for x, n in zip(index, self.hkl_data.shape))
        return torch.where(inside, self.hkl_data[i, j, m], default)

    def _reciprocal(self):
        """a*, b*, c* in 1/A, after the misset."""
        c = self.config
        like = self.cell_a
        if c.mosflm_a_star is not None and c.mosflm_b_star is not None and c.mosflm_c_star is not None:
            stars = torch.stack([as_tensor(v, like) for v in (c.mosflm_a_star, c.mosflm_b_star, c.mosflm_c_star)])
        else:
            ca, cb, cg = (torch.cos(degrees_to_radians(x)) for x in (self.cell_alpha, self.cell_beta, self.cell_gamma))
            sa, sb, sg = (torch.sin(degrees_to_radians(x)) for x in (self.cell_alpha, self.cell_beta, self.cell_gamma))
            skew = torch.sqrt(torch.clamp(1 + 2 * ca * cb * cg - ca**2 - cb**2 - cg**2, min=1e-12))
            la, lb, lc = sa / (self.cell_a * skew), sb / (self.cell_b * skew), sg / (self.cell_c * skew)
            cas, cbs, cgs = (cb * cg - ca) / (sb * sg), (cg * ca - cb) / (sg * sa), (ca * cb - cg) / (sa * sb)
            sgs = torch.sqrt(torch.clamp(1 - cgs**2, min=1e-12))
            zero = torch.zeros_like(la)
            # c is along Z, so that c* has 1 / c there.
            stars = torch.stack([torch.stack([la, zero, zero]), torch.stack([lb * cgs, lb * sgs, zero]),
                                 torch.stack([lc * cbs, lc * (cas - cbs * cgs) / sgs, 1 / self.cell_c])])
        misset = [degrees_to_radians(as_tensor(x, like)) for x in c.misset_deg]
        return stars @ angles_to_rotation_matrix(*misset).T

    def compute_cell_tensors(self):
        """Real and reciprocal vectors (A, 1/A) and the volume (A^3), as a dict."""
        stars = self._reciprocal()
        areas = [torch.linalg.cross(stars[i - 2], stars[i - 1]) for i in range(3)]
        inverse = torch.dot(stars[0], areas[0])  # 1 / volume
        real, volume = [area / inverse for area in areas], torch.abs(1 / inverse)
        return {"a": real[0], "b": real[1], "c": real[2], "a_star": stars[0], "b_star": stars[1], "c_star": stars[2], "V": volume}

    a = property(lambda self: self.compute_cell_tensors()["a"])
    b = property(lambda self: self.compute_cell_tensors()["b"])
    c = property(lambda self: self.compute_cell_tensors()["c"])
    a_star = property(lambda self: self.compute_cell_tensors()["a_star"])
    b_star = property(lambda self: self.compute_cell_tensors()["b_star"])
    c_star = property(lambda self: self.compute_cell_tensors()["c_star"])
    V = property(lambda self: self.compute_cell_tensors()["V"])
    volume = V

    def get_rotated_real_vectors(self, config):
        """((a, b, c), (a*, b*, c*)), each (phi steps, mosaic domains, 3), after spindle and mosaic
        rotations."""
        from ..simulator import mosaic_rotations
        cell = self.compute_cell_tensors()
        like = self.cell_a
        step = config.osc_range_deg / config.phi_steps if config.phi_steps > 0 else 0.0
        phi = degrees_to_radians(as_tensor(config.phi_start_deg, like)
                                 + as_tensor(step, like) * torch.arange(config.phi_steps, dtype=self.dtype, device=self.device))
        axis = as_tensor(config.spindle_axis, like)
        axes, angles = mosaic_rotations(config, like)

        def rotated(v):
            turned = rotate_axis(v.expand(len(phi), 3), axis.expand(len(phi), 3), phi)[:, None, :]
            n = len(angles)
            return rotate_axis(turned.expand(len(phi), n, 3), axes.expand(len(phi), n, 3), angles.expand(len(phi), n))

        return (tuple(rotated(cell[n]) for n in ("a", "b", "c")),
                tuple(rotated(cell[n]) for n in ("a_star", "b_star", "c_star")))
