"""Kernels of listed pixels for what diffBragg computes: images and derivatives along moves."""

import numpy

import nanobragg

from ..compat._simtbx_state import axes_and_angles, star_width
from ..compat.simtbx import WIDTHS


class Setup:
    """The choices that decide the program and stay while numbers move.

    rows: (pixels, 3) panel, slow, fast. sources: places (n, 3), weights, wavelengths (m). fields:
    more of Detector, Crystal and Goniometer, by class. blocks: their number, or 0 where mosaic
    rotations are applied to the basis outside of the kernel. grid: (array, lowest indices). star:
    spots are Gauss_star's.
    """

    def __init__(self, rows, shape, pixel_size, sources, blocks, fluence, default_F, grid, fields, diffuse=False, sign=1, star=False):
        self.rows, self.shape, self.pixel_size, self.sources, self.blocks = rows, shape, pixel_size, sources, blocks
        self.fluence, self.default_F, self.grid, self.fields, self.diffuse, self.sign = fluence, default_F, grid, fields, diffuse, sign
        self.star = star and not diffuse

    @property
    def turns(self):
        """Whether the crystal stands elsewhere than at an angle of 0, or turns."""
        return bool(self.fields["Goniometer"])

    def key(self):
        """Equal for what one simulator can render."""
        sources = b"".join(numpy.ascontiguousarray(x).tobytes() for x in self.sources)
        return id(self.rows), self.shape, self.pixel_size, sources, self.blocks, repr(self.fields)


class Kernel:
    """The simulator of a setup."""

    def __init__(self, setup, numbers, how):
        panels, towards = numbers.panels, setup.sources[0][0]
        fields = setup.fields
        beam = nanobragg.Beam(wavelength=float(setup.sources[2][0]), unpolarized=True, fluence=setup.fluence,
                              sources=[(*place, weight, wavelength) for place, weight, wavelength in zip(*setup.sources)])
        detector = nanobragg.Detector(
            panels=[nanobragg.Panel(o, f, s, setup.shape) for o, f, s in zip(panels.origin, panels.fast, panels.slow)],
            pixel_size=setup.pixel_size, beam_direction=-towards, polarization_axis=numpy.cross(towards, _other(towards)), **fields["Detector"])
        mosaic = {"mosaic_spread": 1.0, "mosaic_domains": setup.blocks, "mosaic_in_lab": True} if setup.blocks > 1 else {}
        crystal = nanobragg.Crystal(matrix=numpy.linalg.inv(numbers.direct).T, structure_factors=setup.grid, shape="gauss", ncells=2,
                                    ncells_def=(0, 0, 0), interpolate=False, default_F=0, **mosaic, **fields["Crystal"])
        goniometer = nanobragg.Goniometer(axis=numbers.spindle, **fields["Goniometer"])
        self.sim = nanobragg.Simulator(beam, detector, crystal, goniometer, pixels=setup.rows, **how)
        self.offset = panels.origin[0] - self.sim["panel_offset"][0]
        self.grid, self.have, self.functions, self.rows = setup.grid, {}, {}, setup.rows  # the key has their identity

    def values(self, numbers, setup):
        """Parameters of the simulator by name."""
        rotated = numbers.direct if setup.blocks else numbers.blocks[0] @ numbers.direct
        n, panels = _star(numbers)[0] if setup.star else numbers.width, numbers.panels
        values = {"reciprocal_matrix": numpy.linalg.inv(rotated).T, "wavelength_offset": numbers.wave[0],
                  "wavelength_scale": numbers.wave[1], "panel_offset": panels.origin - self.offset, "panel_fast_axis": panels.fast,
                  "panel_slow_axis": panels.slow, "panel_normal": panels.normal, "fluence": setup.fluence, "default_F": setup.default_F,
                  **{f"ncells_{name}": n[at] for name, at in zip("abcdef", WIDTHS)}}
        if setup.turns:
            values["spindle_axis"] = numbers.spindle if setup.blocks else numbers.blocks[0] @ numbers.spindle
        if setup.blocks > 1:
            axes, angles = axes_and_angles(numbers.blocks)
            values |= {"mosaic_axis": axes, "mosaic_unit_angle": angles, "mosaic_spread": numbers.spread}
        if setup.diffuse:
            values |= {"diffuse_gamma": numbers.gamma, "diffuse_sigma": numbers.sigma}
        return values

    @staticmethod
    def change(numbers, slope, setup):
        """The change of the simulator's parameters with a change of the numbers; what does not
        change is left out."""
        change, direct = {}, slope.direct
        block = None if setup.blocks else numbers.blocks[0]
        if not setup.blocks:
            direct = _sum(None if direct is None else block @ direct, None if slope.blocks is None else slope.blocks[0] @ numbers.direct)
        if direct is not None:
            reciprocal = numpy.linalg.inv(numbers.direct if block is None else block @ numbers.direct).T
            change["reciprocal_matrix"] = -reciprocal @ direct.T @ reciprocal
        spindle = slope.spindle if block is None else _sum(None if slope.spindle is None else block @ slope.spindle,
                                                           None if slope.blocks is None else slope.blocks[0] @ numbers.spindle)
        if spindle is not None and setup.turns:
            change["spindle_axis"] = spindle
        width = slope.width
        if setup.star and (slope.direct is not None or width is not None):
            width = _star(numbers)[1](slope.direct, None if width is None else numpy.diag(width))
        if width is not None:
            change |= {f"ncells_{name}": width[at] for name, at in zip("abcdef", WIDTHS) if width[at]}
        if slope.spread is not None and setup.blocks > 1:
            change["mosaic_spread"] = slope.spread
        if slope.wave is not None:
            change |= {f"wavelength_{name}": by for name, by in zip(("offset", "scale"), slope.wave) if by}
        if slope.panels is not None:
            change |= {name: getattr(slope.panels, field) for name, field in (("panel_offset", "origin"), ("panel_fast_axis", "fast"),
                       ("panel_slow_axis", "slow"), ("panel_normal", "normal")) if getattr(slope.panels, field).any()}
        if slope.F is not None:
            change |= {"F": numpy.broadcast_to(slope.F, setup.grid[0].shape)} | ({"default_F": slope.F} if numpy.ndim(slope.F) == 0 else {})
        if setup.diffuse:
            change |= {f"diffuse_{field}": getattr(slope, field) for field in ("gamma", "sigma") if getattr(slope, field) is not None}
        return change

    def _set(self, values, setup, but=()):
        """Gives the simulator its numbers; those of the names in `but` move with functions."""
        if setup.grid is not self.grid:
            self.sim.structure_factors = setup.grid
            self.grid = setup.grid
            self.functions.clear()
        new = {name: value for name, value in values.items() if name not in but and not numpy.array_equal(self.have.get(name), value)}
        if new:
            self.sim.set(**new)
            self.have |= new
            self.functions.clear()

    def image(self, numbers, setup):
        self._set(self.values(numbers, setup), setup)
        return self.sim.image()

    def by_wavelength(self, numbers, setup):
        """The photons of each pixel and the sum of their wavelengths (m)."""
        function, theta = self.function(["source_weight"], self.values(numbers, setup), setup)
        wavelengths, light = numbers.wave[0] + numbers.wave[1] * setup.sources[2], function.image(theta)
        # The kernel divides weights by their sum: their change has no part along themselves.
        return light, function.jvp(theta, theta * wavelengths) + light * (theta @ wavelengths) / theta.sum()

    def function(self, names, values, setup):
        """The image as a function of what is named, and the vector now."""
        self._set(values, setup, names)
        key = tuple(sorted(names))
        if key not in self.functions:
            self.functions[key] = self.sim.function(*key)
        function = self.functions[key]
        return function, function.pack(**{name: values[name] for name in key if name in values})

    def derivatives(self, numbers, slopes, setup):
        """The image and, in a list, its derivatives along slopes of the numbers."""
        changes = [self.change(numbers, slope, setup) for slope in slopes]
        alive = [i for i, change in enumerate(changes) if change]
        if not alive or not setup.fluence > 0:
            return self.image(numbers, setup), list(numpy.zeros((len(slopes), len(setup.rows))))
        # The image is its own derivative with respect to the logarithm of the fluence, and so comes
        # with the others.
        changes.append({"fluence": setup.fluence})
        alive.append(len(slopes))
        names = {name for change in changes for name in change}
        function, theta = self.function(names, self.values(numbers, setup), setup)
        vectors, at, images = numpy.zeros((len(changes), function.length)), 0, {}
        for name, shape in zip(function.names, function.shapes):
            size = int(numpy.prod(shape, dtype=int))
            for row, change in zip(vectors, changes):
                if name in change:
                    row[at:at + size] = numpy.reshape(change[name], -1)
            at += size
        # Two sweeps: derivatives with respect to the place of pixels need much that the
        # others do not.
        panels = [i for i in alive if any(name.startswith("panel") for name in changes[i])]
        for group in (panels, [i for i in alive if i not in panels]):
            images |= zip(group, function.jvp(theta, vectors[group]))
        return images[len(slopes)], [images[i] if i in images else numpy.zeros(len(setup.rows)) for i in range(len(slopes))]


def of_block(numbers, m):
    """One mosaic domain of numbers or slopes."""
    return numbers if numbers.blocks is None else numbers.with_(blocks=numbers.blocks[m:m + 1])


def _star(numbers):
    return star_width(numbers.direct, numpy.diag(numbers.width))


def _sum(a, b):
    return b if a is None else a if b is None else a + b


def _other(vector):
    return numpy.eye(3)[numpy.argmin(numpy.abs(vector))]

