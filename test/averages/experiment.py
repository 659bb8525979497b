"""Random experiments with Gaussian crystals, as flags of nb-sim and as numbers."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Experiment:
    convention: str      # mosflm or xds
    cell: list           # A, degrees
    ncells: list
    misset: list         # degrees
    wavelength: float    # A
    distance: float      # m
    pixel: float         # m
    pixels: int
    beam_centre: list    # pixels, fast and slow
    tilt: list           # degrees about lab x, y, z
    twotheta: float      # degrees
    kahn: float
    phi: float           # degrees
    osc: float           # degrees
    mosaic: float        # degrees, a standard deviation, as are the next two
    bandwidth: float     # per cent
    divergence: list     # mrad, about the vertical and about the polarization axis
    fudge: float = 1.0
    fluence: float = 1e25

    def flags(self, hkl):
        """All but what is spread. `hkl` is the reflection list."""
        def words(flag, *values):
            return [flag] + [repr(float(v)) for v in values]
        centre = np.array(self.beam_centre) * self.pixel * 1e3
        if self.convention == "mosflm":  # X runs along slow, from the middle of the first pixel
            half = 0.5e3 * self.pixel
            place = words("-Xbeam", centre[1] - half) + words("-Ybeam", centre[0] - half)
        else:
            place = (words("-ORGX", self.beam_centre[0] + 0.5) +
                     words("-ORGY", self.beam_centre[1] + 0.5))
        return (["-" + self.convention, "-hkl", hkl, "-default_F", "1", "-nointerpolate", "-gauss_xtal"] +
                words("-cell", *self.cell) + words("-misset", *self.misset) +
                [w for axis, n in zip("abc", self.ncells) for w in (f"-N{axis}", str(n))] +
                words("-lambda", self.wavelength) + words("-distance", self.distance * 1e3) +
                words("-pixel", self.pixel * 1e3) + ["-detpixels", str(self.pixels)] + place +
                words("-detector_rotx", self.tilt[0]) + words("-detector_roty", self.tilt[1]) +
                words("-detector_rotz", self.tilt[2]) + words("-twotheta", self.twotheta) +
                words("-polar", self.kahn) + words("-fudge", self.fudge) + words("-fluence", self.fluence))

    def spread_flags(self):
        """The flags of the spreads, by standard deviations, and the rotation step as a whole."""
        words = []
        if self.mosaic:
            words += ["-mosaic", repr(self.mosaic)]
        if self.bandwidth:
            words += ["--bandwidth-sigma", repr(self.bandwidth)]
        if any(self.divergence):
            words += ["-divergence_sigma"] + [repr(d) for d in self.divergence]
        return words + self.step_flags()

    def step_flags(self):
        return ["-phi", repr(self.phi)] + (["-osc", repr(self.osc)] if self.osc else [])


def valid_angles(random):
    """A cell whose volume is no sliver."""
    while True:
        angles = random.uniform(70, 110, 3) if random.random() < 0.6 else np.full(3, 90.0)
        a, b, c = np.cos(np.radians(angles))
        if 1 + 2 * a * b * c - a * a - b * b - c * c > 0.5:
            return list(angles)


def random_experiment(random):
    def spread(most, chance=0.75):
        """Often zero; else anything below `most`, small values as likely as large ones."""
        return float(most * 10**random.uniform(-2, 0)) if random.random() < chance else 0.0
    pixels = 400
    return Experiment(
        convention=str(random.choice(["mosflm", "xds"])),
        cell=[float(x) for x in random.uniform(30, 130, 3)] + [float(x) for x in valid_angles(random)],
        ncells=[int(round(5 * 60**random.random())) for _ in range(3)],
        misset=[float(x) for x in random.uniform(-180, 180, 3)],
        wavelength=float(random.uniform(0.8, 1.6)),
        distance=float(random.uniform(0.08, 0.35)),
        pixel=float(random.choice([0.05, 0.075, 0.1, 0.172, 0.25])) * 1e-3,
        pixels=pixels,
        beam_centre=[float(x) for x in random.uniform(-0.5, 1.2, 2) * pixels],
        tilt=[float(x) for x in random.uniform(-8, 8, 3)],
        twotheta=float(random.uniform(-15, 15)),
        kahn=float(random.uniform(-1, 1)),
        phi=float(random.uniform(-20, 20)),
        osc=spread(1.0),
        mosaic=spread(1.0),
        bandwidth=spread(1.0),
        divergence=[spread(2.0), spread(2.0)],
        fudge=float(random.choice([1.0, 1.0, 1.3])))
