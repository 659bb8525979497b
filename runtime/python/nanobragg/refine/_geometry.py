"""Orientation, detector and the directions of the mosaic spread from places of spots on a still."""

import dataclasses
import functools

import numpy
from scipy import optimize

from .. import _core, units
from ._crystal import rotation
from ._panels import ACROSS, BEAM, ONE, Panels

_NAMES = {"silicon": "Si", "si": "Si", "cadmium telluride": "CdTe", "cdte": "CdTe", "gallium arsenide": "GaAs", "gaas": "GaAs"}


def material_named(text):
    """The formula of a sensor's material as files write it; the text itself of one that is not
    known."""
    return _NAMES.get(text.strip().lower(), text.strip())


def attenuation_length(material, wavelength):
    """mm, or None if the material is not known."""
    absorption = _core.sensor_absorption(material, units.hc / (units.electronvolt * units.angstrom * wavelength))
    return None if absorption is None else 1e3 / absorption


@dataclasses.dataclass
class Detector:
    """A detector across the beam: distance (mm) along the beam, centre (pixels) where the beam
    meets it, tilts (rad) about the laboratory's x and y; its panels move with it. Pixels are (fast,
    slow) of the image, whole numbers are edges.
    """

    wavelength: float
    pixel: float
    distance: float
    centre: tuple
    tilts: tuple = (0.0, 0.0)
    thickness: float = 0.0
    attenuation: float = None  # mm
    modules: object = None  # Modules, which may stand off their places
    upright: numpy.ndarray = None  # columns fast, slow, normal without tilts, where fast is not along x and slow down
    panels: Panels = dataclasses.field(default_factory=lambda: ONE, repr=False)
    _placed: tuple = dataclasses.field(default=None, init=False, repr=False, compare=False)  # the last of placed(), and for which numbers

    @classmethod
    def turned(cls, wavelength, pixel, distance, foot, tilts, **more):
        """A detector that was turned by ``tilts`` about the sample. distance (mm): to its plane;
        foot (pixels): the place of the plane that is nearest to the sample, where the beam would
        meet it without tilts."""
        detector = cls(wavelength, pixel, distance, tuple(foot), tilts, **more)
        fast, slow, normal = detector.axes()
        away = distance / (normal @ BEAM) * BEAM - distance * normal
        centre = numpy.array(foot) + numpy.array([away @ fast, away @ slow]) / pixel
        return dataclasses.replace(detector, distance=distance / (normal @ BEAM), centre=tuple(centre.tolist()))

    def shifted(self, vector):
        """One whose scattering vectors are shorter by a small one (1/A)."""
        fast, slow, _ = self.axes()
        return dataclasses.replace(self, centre=tuple(float(c + vector @ axis * self.wavelength * self.distance / self.pixel)
                                                      for c, axis in zip(self.centre, (fast, slow))))

    def axes(self):
        turn = rotation(numpy.array([*self.tilts, 0.0]))
        return (turn @ (ACROSS if self.upright is None else self.upright)).T

    def corner(self):
        fast, slow, _ = self.axes()
        return self.distance * BEAM - self.pixel * (self.centre[0] * fast + self.centre[1] * slow)

    def placed(self):
        """Places of the panels: corners (mm), fast, slow, normal away from the sample, (panels, 3)
        each, without shifts of modules."""
        numbers = self.distance, self.centre, self.tilts
        if self._placed is None or self._placed[0] != numbers:
            frame = self.axes()
            corner, fast, slow = self.corner() + self.panels.corner @ frame, self.panels.fast @ frame, self.panels.slow @ frame
            normal = numpy.cross(fast, slow)
            self._placed = numbers, (corner, fast, slow, normal * numpy.sign((normal * corner).sum(axis=1))[:, None])
        return self._placed[1]

    def _entered(self, cosine):
        """How far (mm) photons of rays of these cosines with the normal go along the plane of the
        sensor before it absorbs them, in the mean."""
        path = numpy.clip(self.thickness / cosine / self.attenuation, -500, 500)
        return self.attenuation * (1 - path / numpy.expm1(path)) * numpy.sqrt(numpy.maximum(1 - cosine**2, 0))

    def meet(self, rays, panel=None):
        """Pixels where rays from the sample are absorbed, by the panels of these numbers; None: by
        whichever they meet, nan where that is none."""
        if panel is None:
            if len(self.panels) > 1:
                return self._first_met(rays)
            panel = numpy.zeros(len(rays), int)
        rays = rays.T / numpy.linalg.norm(rays, axis=1)
        corner, fast, slow, normal = (axis[0, :, None] if len(self.panels) == 1 else axis.T[:, panel] for axis in self.placed())
        dot = lambda u, v: (u * v).sum(axis=0)
        cosine = dot(rays, normal)
        places = rays * (dot(corner, normal) / cosine) - corner
        if self.attenuation and self.thickness:
            along = rays - cosine * normal
            places += along * (self._entered(cosine) / numpy.maximum(numpy.sqrt(dot(along, along)), 1e-12))
        return self.seen(numpy.column_stack([dot(places, fast), dot(places, slow)]) / self.pixel, panel)

    def seen(self, at, panel):
        """Pixels of the image for places (fast, slow) on panels of these numbers."""
        at = at + self.panels.begin[panel][:, ::-1]
        return at if self.modules is None else at + self.modules.off(at)

    def _first_met(self, rays):
        found = numpy.full((len(rays), 2), numpy.nan)
        normals = self.placed()[3]
        for number, (slow, fast) in enumerate(self.panels.parts(None)):
            toward = numpy.flatnonzero(rays @ normals[number] > 1e-3)
            at = self.meet(rays[toward], numpy.full(len(toward), number))
            on = (at >= (fast.start, slow.start)).all(axis=1) & (at < (fast.stop, slow.stop)).all(axis=1)
            found[toward[on]] = at[on]
        return found

    def _places(self, at):
        """mm, and the normals there, of pixels: (3, n), the normals (3, 1) of a single panel."""
        panel = 0 if len(self.panels) == 1 else self.panels.number(at)
        corner, fast, slow, normal = (axis[0, :, None] if len(self.panels) == 1 else axis.T[:, panel] for axis in self.placed())
        at = at if self.modules is None else at - self.modules.off(at)
        f, s = self.pixel * (at - self.panels.begin[panel][..., ::-1]).T
        return corner + f * fast + s * slow, normal

    def across(self, at):
        """How far pixels are from the beam, in pixels to the right and down."""
        return self._places(at)[0][:2].T * (1, -1) / self.pixel

    def scattering_vectors(self, at):
        """1/A, of light at these pixels."""
        places, normal = self._places(at)
        if self.attenuation and self.thickness:
            rays = places / numpy.sqrt((places * places).sum(axis=0))
            cosine = (rays * normal).sum(axis=0)
            along = rays - cosine * normal
            places = places - along * (self._entered(cosine) / numpy.maximum(numpy.sqrt((along * along).sum(axis=0)), 1e-12))
        return ((places / numpy.sqrt((places * places).sum(axis=0)) - BEAM[:, None]) / self.wavelength).T

    def radii(self, shape):
        """Radii of the pixels of an image of this shape, pixels: the same for all light of one
        scattering angle, and near the beam the distance from where it meets the detector."""
        found = numpy.zeros(shape, "f4")
        for part, corner, fast, slow in zip(self.panels.parts(shape), *self.placed()[:3]):
            f, s = (self.pixel * (numpy.arange(p.stop - p.start, dtype="f4") + 0.5) for p in part[::-1])
            x, y, z = (numpy.float32(corner[i]) + f[None, :] * numpy.float32(fast[i]) + s[:, None] * numpy.float32(slow[i]) for i in range(3))
            across = numpy.hypot(x, y)
            # The tangent to 45 degrees, and straight on from there.
            tangent, wide = across / numpy.maximum(-z, numpy.float32(1e-3)), across >= -z
            tangent[wide] = 1 + 2 * (numpy.arctan2(across[wide], -z[wide]) - numpy.float32(numpy.pi / 4))
            found[part] = tangent * numpy.float32(self.distance / self.pixel)
        return found

    def finest(self, shape):
        """1/d of the farthest corner of an image of this shape, 1/A."""
        corners = numpy.array([(x, y) for slow, fast in self.panels.parts(shape) for x in (fast.start, fast.stop - 1e-3)
                               for y in (slow.start, slow.stop - 1e-3)], float)
        return float(numpy.linalg.norm(self.scattering_vectors(corners), axis=1).max())


ISOTROPIC = numpy.array([0.0, 0.0, 0.0, 0.0, 0.1])  # a spectrum this narrow moves no spot
PLACE, SPHERE, SHARPEST = 0.4, numpy.radians(0.25), numpy.radians(0.02)  # pixels and rad off the sphere that a spot is trusted to, at most and at least
_TURNS = numpy.cross(BEAM, numpy.eye(3))  # _TURNS @ q is q x BEAM
_STEP = 1e-4  # step of differences, in the units of the fit's numbers
_WIDEST = 20.0  # width of the spectrum over that of mosaic blocks, as predict() takes it
_ENOUGH = 1e-4  # part of the sum of squares: a step that makes it less by less is the last


def _covariance(mosaic):
    """The covariance (..., 3, 3) of rotations of mosaic blocks, about the laboratory's axes, in
    parts of their mean square across the beam.

    A rotation about the beam brings no node nearer to the sphere, so that its own variance does not
    move spots.
    """
    a, b, c, d, _ = numpy.moveaxis(mosaic, -1, 0)
    rows = [1 + a, b, c], [b, 1 - a, d], [c, d, numpy.ones_like(a)]
    return numpy.moveaxis(numpy.array(rows), (0, 1), (-2, -1))


def _diffracted(matrix, hkl, wavelength, mosaic):
    """Wave vectors (..., 3, n), 1/A, of the light of reflections (n, 3), and by how much (rad)
    their nodes miss the Ewald sphere, (..., n). matrix (..., 3, 3), mosaic (..., 5): of predict().
    """
    s0 = BEAM / wavelength
    q, missing, longer = matrix @ hkl.T, None, 0.0
    covariance, width = _covariance(mosaic), mosaic[..., 4, None]
    across = 2 * _TURNS / wavelength
    for _ in range(2):  # the second step takes what curvature leaves
        along = 2 * s0 @ q  # how `outside` changes where the beam's wave vector is longer by a part
        outside = (q * q).sum(axis=-2) + (1 + longer) * along
        slope = across @ q  # 2 q x s0: likewise by a rotation of the node
        steepest = numpy.maximum((slope * slope).sum(axis=-2), 1e-30)
        turn = covariance @ slope
        most = numpy.maximum((turn * slope).sum(axis=-2), 1e-3 * steepest)
        parts = -outside / (most + (width * along)**2)
        missing = -outside / numpy.sqrt(steepest) if missing is None else missing
        x, y, z = numpy.moveaxis(q, -2, 0)
        a, b, c = numpy.moveaxis(turn * parts[..., None, :], -2, 0)
        q = q + numpy.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-2)
        longer = longer + width**2 * along * parts
    return (1 + longer)[..., None, :] * s0[:, None] + q, missing


def predict(matrix, hkl, detector, mosaic=ISOTROPIC, panel=None):
    """Pixels (fast, slow) of reflections on a still, and by how much (rad) their nodes miss the
    Ewald sphere. panel: that of each reflection; None: the one that it meets, and nan where that is
    none.

    A node comes onto the sphere by the likeliest rotation of mosaic blocks and wavelength. Where
    blocks are alike in all directions the rotation is that about the axis at a right angle to beam
    and node, as DIALS predicts stills. mosaic: four numbers of _covariance(), and the width of the
    spectrum, a part of the wavelength, over that of mosaic blocks, rad.
    """
    rays, missing = _diffracted(matrix, hkl, detector.wavelength, mosaic)
    return detector.meet(rays.T, panel), missing


@dataclasses.dataclass
class Fitted:
    """Matrix (columns a*, b*, c*, 1/A), detector, mosaic, which reflections have spots, and how far
    (pixels, fast and slow) the spots are from them."""

    matrix: numpy.ndarray
    detector: Detector
    mosaic: numpy.ndarray
    hkl: numpy.ndarray = None  # for every spot
    indexed: numpy.ndarray = None  # whether a spot is near its reflection
    off: numpy.ndarray = None
    missing: numpy.ndarray = None  # rad
    reach: float = numpy.radians(1.0)  # rad off the sphere, of nodes that have light

    def rms(self, which):
        """The root mean square of the distances, pixels."""
        return float(numpy.sqrt((self.off[which]**2).sum(axis=1).mean())) if which.any() else numpy.nan


def assign(fitted, at, tolerance, sphere, limit=numpy.inf, arc=0.0):
    """Which spots are within so many pixels of their reflections, whose nodes miss the sphere by so
    much (rad). arc: rad about the beam over which faint light of a reflection may be found in
    pieces; across it these have to be so much nearer that chance finds no more of them."""
    q = fitted.detector.scattering_vectors(at)
    hkl = numpy.rint(q @ numpy.linalg.inv(fitted.matrix).T).astype(int)
    some = hkl.any(axis=1)
    places, missing = predict(fitted.matrix, numpy.where(some[:, None], hkl, 1), fitted.detector, fitted.mosaic,
                              fitted.detector.panels.number(at))
    off = places - at
    away = numpy.linalg.norm(off, axis=1) if not arc else _off_arcs(fitted.detector, at, q, off, arc / tolerance)
    indexed = (some & (away < tolerance) & (numpy.abs(missing) < sphere)
               & (numpy.linalg.norm(q, axis=1) < limit))
    return dataclasses.replace(fitted, hkl=hkl, indexed=indexed, off=off, missing=missing)


def _off_arcs(detector, at, q, off, arc):
    """Lengths of ``off`` (pixels), where those along rings count less, and others as much more. q:
    scattering vectors at these pixels; arc: rad of a ring within which a pixel counts as one."""
    fast, slow, _ = detector.axes()
    along = numpy.cross(BEAM, q)
    along = numpy.column_stack([along @ fast, along @ slow])
    along /= numpy.maximum(numpy.linalg.norm(along, axis=1), 1e-30)[:, None]
    longer = numpy.hypot(1, arc * numpy.linalg.norm(detector.across(at), axis=1))
    return numpy.hypot((off * along).sum(axis=1) / longer, (off[:, 0] * along[:, 1] - off[:, 1] * along[:, 0]) * longer)


def near_sphere(fitted, shape, sphere):
    """Pixels (fast, slow) of all reflections on an image of this shape whose nodes miss the sphere
    by less (rad)."""
    detector, s0 = fitted.detector, BEAM / fitted.detector.wavelength
    most = (numpy.linalg.norm(numpy.linalg.inv(fitted.matrix), axis=1) * detector.finest(shape)).astype(int)
    h, k, l = numpy.ogrid[tuple(slice(-m, m + 1) for m in most)]
    q = [row[0] * h + row[1] * k + row[2] * l for row in fitted.matrix]
    squares = sum(part * part for part in q)
    along = sum(part * axis for part, axis in zip(q, s0))
    # How much a rotation of the node changes squares + 2 along: 2 |q x s0|.
    across = squares * (s0 @ s0) - along * along
    hkl = numpy.argwhere((squares / 2 + along)**2 < sphere**2 * across) - most
    at, _ = predict(fitted.matrix, hkl, detector, fitted.mosaic)
    return at[((at >= 0) & (at < shape[::-1])).all(axis=1)]


def fit(cell, fitted, at, hkl, *, tilt, shape, mosaic, place=numpy.inf):
    """Fits orientation, distance and centre to places of spots; robust against some that are
    indexed wrongly.

    cell: the OrientedCell. tilt: sigma of the detector's tilts, rad. shape: sigma of the cell's
    strains; its mean length is held with a distance that is free, since a still cannot tell them
    apart. mosaic: sigma of the directions of the mosaic spread and of the logarithm of the
    spectrum's width. place: sigma of distance (mm) and centre (pixels). Numbers with the sigma 0
    are held. Nodes are trusted to be on the sphere as far as those of the reflections are.
    """
    strains, start = cell.size - 3, fitted.detector
    sigma = numpy.concatenate([numpy.full(3, numpy.inf), numpy.full(3, place), numpy.full(2, tilt), numpy.full(strains, shape),
                               numpy.full(4, mosaic), [4 * mosaic]])
    about = numpy.concatenate([numpy.zeros(6), start.tilts, numpy.zeros(strains), fitted.mosaic[:4], [numpy.log(fitted.mosaic[4])]])
    unit = numpy.concatenate([numpy.full(3, 1e-3), numpy.ones(3), numpy.full(2 + strains, 1e-3), numpy.full(4, 0.1), [0.3]])
    traces = numpy.array([numpy.trace(strain) for strain in cell.strains]) / 3
    free, mean = sigma > 0, 1e-5 if place > 0 else numpy.inf
    panel, rows = start.panels.number(at), hkl.astype(float)

    def whole(y):
        x = about.copy()
        x[free] = y
        return x

    def crystal(x):
        spread = numpy.append(x[8 + strains:-1], numpy.exp(x[-1]))
        return cell.matrix(numpy.concatenate([x[:3], x[8:8 + strains]])), spread

    @functools.lru_cache(len(unit))
    def standing(distance, fast, slow, *tilts):
        return dataclasses.replace(start, distance=start.distance + distance, tilts=tilts, centre=(start.centre[0] + fast, start.centre[1] + slow))

    def left(places, missing, x):
        known = x / numpy.where(free, sigma, 1)
        return numpy.concatenate([((places - at) / PLACE).ravel(), missing / sphere, known[free & (sigma < numpy.inf)],
                                  [traces @ x[8:8 + strains] / mean]])

    def residuals(y):
        x = whole(y)
        matrix, spread = crystal(x)
        return left(*predict(matrix, rows, standing(*x[3:8].tolist()), spread, panel), x)

    def jacobian(y):
        """By differences: reflections of all steps of the crystal at once meet the detector."""
        x = whole(y)
        every = numpy.concatenate([[x], x + _STEP * numpy.diag(unit)[free]])
        moves = numpy.concatenate([[False], (every[1:, 3:8] != x[3:8]).any(axis=1)])  # the detector
        detector = standing(*x[3:8].tolist())
        matrices, spreads = map(numpy.array, zip(*map(crystal, every[~moves])))
        rays, off = _diffracted(matrices, rows, start.wavelength, spreads)
        missing, places = numpy.empty((len(every), len(at))), numpy.empty((len(every), len(at), 2))
        missing[~moves], missing[moves] = off, off[0]
        met = detector.meet(rays.swapaxes(1, 2).reshape(-1, 3), numpy.tile(panel, len(rays)))
        places[~moves] = met.reshape(-1, len(at), 2)
        for k in numpy.flatnonzero(moves):
            places[k] = standing(*every[k, 3:8].tolist()).meet(rays[0].T, panel)
        first, *others = map(left, places, missing, every)
        return ((numpy.array(others) - first) / (_STEP * unit[free])[:, None]).T

    sphere, reach = SPHERE, numpy.concatenate([numpy.full(8 + strains, numpy.inf), numpy.full(4, 0.95), [numpy.log(_WIDEST)]])[free]
    y = numpy.clip(about[free], -0.9 * reach, 0.9 * reach)
    for width in (3.0, 1.0):  # spots farther out are weighed less and less
        y = optimize.least_squares(residuals, y, jacobian, bounds=(-reach, reach), loss="soft_l1",
                                   f_scale=width, x_scale=unit[free], ftol=_ENOUGH).x
        matrix, spread = crystal(whole(y))
        if mosaic:
            missing = _diffracted(matrix, rows, start.wavelength, spread)[1]
            sphere = numpy.clip(1.4826 * numpy.median(numpy.abs(missing)), SHARPEST, SPHERE)
    detector = standing(*whole(y)[3:8].tolist())
    return dataclasses.replace(fitted, matrix=matrix, detector=detector, mosaic=spread)
