"""The fit of a white-beam still by tables of reflections: camera, crystals, and the spectrum."""

import dataclasses

import numpy
from scipy import linalg, optimize
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from .. import experiment as nb, units
from .._arrays import distinct
from ..simulator import Simulator
from ._camera import Camera
from ._crystal import rotation
from ._indexing import real_basis
from ._indices import absent
from ._laue_search import NARROW, indices_to, ray_of
from ._panels import BEAM

HC = units.hc / (units.kiloelectronvolt * units.angstrom)  # keV A
METRES = 1e10  # from 1/A to 1/m
NODES = 28  # points of the flux curve
_DARK = 1e-9  # part of the highest flux below which no density is
_MOSAICITY, _CELLS = numpy.radians(0.01), 2000  # crystals have spots like points
_MOST_ROWS = 4.0  # reflections that are expected, times the spots
_LEAST_ROWS = 3000
_CROWDED = 0.25  # spots or rays within reach of a place: more would be matched by chance
_MOSAICITIES = numpy.radians(0.001), numpy.radians(1.0)  # that are tried
_LEAST_SIGMA = 0.02  # pixels
_SWEEP = 4  # directions at a time: one kernel for all
_DOUBT = 0.3  # part of a spot's light by which structure factors, extinction and absorption are wrong, to begin with
_BEND = 0.5  # second difference of the logarithm of the flux from node to node
_FEWEST_RAYS = 12
_BEYOND = 1.05  # times 1/d at the corners of the detector as it is given
_ABSENT = 1e-5  # part of the largest structure factor, below which it is a rounding
_KNOWN = 1e-3  # strain in a narrow spectrum
_UNIT = 1e-3  # mm are m, and milliradians rad

# Numbers of the camera by the names of Simulator's, and what a step of 1 is of these.
CAMERA = {"close_distance": "distance", "beam_center_fast": "centre", "beam_center_slow": "centre", "detector_rotx": "tilt",
          "detector_roty": "tilt"}


def _basis():
    """The eight matrices that turn and strain a crystal without changing its volume: three
    rotations, five strains."""
    turns = [numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in numpy.eye(3)]
    strains = [numpy.diag([1.0, -1, 0]) / 2, numpy.diag([-1.0, -1, 2]) / 3]
    for i, j in ((1, 2), (0, 2), (0, 1)):
        strains.append(numpy.zeros((3, 3)))
        strains[-1][i, j] = strains[-1][j, i] = 1
    return 1e-3 * numpy.array(turns + strains)


CHANGES = _basis()  # steps of 1
GROUPS = [*CAMERA.values()]
OF_CRYSTAL = ["orientation"] * 3 + ["strain"] * 5


@dataclasses.dataclass
class Crystal:
    """A crystal of a still. matrix: columns a*, b*, c*, 1/A. A row for each matched spot: hkl, the
    order that is predicted, spot, its number, off, predicted minus observed place (pixels, fast and
    slow)."""

    matrix: numpy.ndarray
    hkl: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.zeros((0, 3), int))
    spot: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.zeros(0, int))
    off: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.zeros((0, 2)))
    scale: float = 1.0  # its light relative to the first crystal's
    covariance: numpy.ndarray = None  # (8, 8), in steps

    def strain(self, cell):
        """The deviatoric strain of the cell, (3, 3), in the crystal's frame (x along a, z along
        c*), and its sigmas."""
        change = numpy.linalg.inv(self.matrix).T @ numpy.linalg.inv(real_basis(cell))  # from the known cell to this one
        turn, stretch = linalg.polar(change / numpy.cbrt(numpy.linalg.det(change)))
        strain = stretch - numpy.eye(3)
        strain -= numpy.trace(strain) / 3 * numpy.eye(3)
        # Directions of real space change by the negative of those of reciprocal space.
        by = numpy.array([-turn.T @ (c + c.T) / 2 @ turn for c in CHANGES])
        variance = numpy.einsum("kij,kl,lij->ij", by, self.covariance, by) if self.covariance is not None else numpy.full((3, 3), numpy.nan)
        return strain, numpy.sqrt(variance)

    @property
    def orientation_sigma(self):
        """Sigmas of rotations about the laboratory's axes, rad."""
        return 1e-3 * numpy.sqrt(numpy.diag(self.covariance)[:3])


@dataclasses.dataclass
class Rays:
    """Rays on the detector, of each the lowest indices (primitive), the order that is predicted,
    its place, and its number of orders."""

    primitive: numpy.ndarray
    hkl: numpy.ndarray
    at: numpy.ndarray
    orders: numpy.ndarray
    wavelength: numpy.ndarray

    def chosen(self, which):
        return Rays(*(getattr(self, field.name)[which] for field in dataclasses.fields(self)))


@dataclasses.dataclass(frozen=True)
class Seen:
    """Spots of a still: places (n, 2), pixels; noise: their errors by noise; wide: the mean of their
    variances along fast and slow, pixels^2, nan where it is not known; light: photons."""

    at: numpy.ndarray
    noise: numpy.ndarray
    wide: numpy.ndarray
    light: numpy.ndarray


class LaueFit:
    """Camera, crystals and spectrum of a white-beam still.

    image: its DiffractionImage. band: wavelengths, A. seen: its spots. held: names of groups that stay; restrain:
    sigmas about the start: mm, degrees, and strain without a unit.
    """

    def __init__(self, camera, model, image, band, seen, held=(), restrain=None):
        self.camera, self.model, self.shape, self.band = camera, model, image.photons.shape, band
        self.at, self.noise, self.wide, self.light = seen.at, seen.noise, seen.wide, seen.light
        self.held, self.restrain, self.crystals, self.start = set(held), restrain or {}, [], camera
        energies = numpy.linspace(HC / band[1], HC / band[0], NODES)
        self.nodes = HC / energies  # wavelengths, A, descending
        self.flux = numpy.ones(NODES)  # at the nodes, of energies: photons of a keV
        self.flux_sigma = numpy.full(NODES, numpy.nan)  # sigmas of the logarithm
        self.covariance = None  # (5, 5) for the camera, in steps
        self.doubt = numpy.nan  # part of a spot's light that the flux does not explain
        self.sigma = 1.0  # pixels: other errors of a spot's place along fast or slow than those by noise
        self.sim = self._simulator(image.polarization)

    def _simulator(self, polarization):
        reciprocal = numpy.linalg.inv(real_basis(self.model.cell)).T
        corners = numpy.array([(x, y) for x in (0, self.shape[1]) for y in (0, self.shape[0])])
        seen = _BEYOND * 2 * self.camera.directions(corners)[1].max() / self.band[0]
        finest = min(2 / self.band[0], seen)
        if self._expected(finest) > (most := max(_LEAST_ROWS, _MOST_ROWS * len(self.at))):
            # Photons fall with the resolution; so many are seen at most.
            finest = min(finest, finest * (most / self._expected(finest))**(1 / 3))
        self.finest = finest
        crystal = nb.Crystal(real_space=1e-10 * numpy.linalg.inv(reciprocal), shape="gauss", average="closed", default_F=1, ncells=_CELLS,
                             mosaic_spread=_MOSAICITY, dmin=1e-10 / self.finest)
        beam = nb.Beam(spectrum=numpy.column_stack([1e-10 * self.nodes, self._density(self.flux)]), spectrum_between="linear",
                       polarization=2 * polarization - 1, fluence=1e24)
        detector = nb.Detector.plane(1e-3 * self.camera.corner, self.camera.fast, self.camera.slow, tuple(map(int, self.shape)),
                                     1e-3 * self.camera.pixel, beam_direction=BEAM)
        sim = Simulator(crystal, beam, detector, nb.Goniometer(axis=(0, 0, 1)), threads=1)
        sim.structure_factors = self._factors(reciprocal)
        sim["default_F"] = 0.0
        return sim

    def _expected(self, finest):
        """Reflections in the band, to a limit of 1/d (1/A), on the detector."""
        volume = abs(numpy.linalg.det(real_basis(self.model.cell)))
        corners = numpy.array([(x, y) for x in (0, self.shape[1] / 2, self.shape[1]) for y in (0, self.shape[0] / 2, self.shape[0])])
        _, sines = self.camera.directions(corners)
        size = self.camera.pixel**2 * self.shape[0] * self.shape[1]
        solid = min(size * self.camera.distance / numpy.linalg.norm(self.camera.corner + self.camera.pixel * (
            self.shape[1] / 2 * self.camera.fast + self.shape[0] / 2 * self.camera.slow))**3, 4 * numpy.pi)
        sine = numpy.median(sines)  # dq = d(lambda) d(Omega) 2 sin^2 / lambda^4
        shortest = max(self.band[0], 2 * sine / finest)
        if shortest >= self.band[1]:
            return 0.0
        return volume * solid * 2 * sine**2 * (shortest**-3 - self.band[1]**-3) / 3

    @property
    def is_narrow(self):
        """Whether lengths of scattering vectors are nearly known."""
        return self.band[1] < NARROW * self.band[0]

    def _factors(self, reciprocal):
        if (grid := self.model.grid) is not None:
            return numpy.where(grid > _ABSENT * grid.max(), grid, 0.0), self.model.lowest
        most = (numpy.linalg.norm(numpy.linalg.inv(reciprocal), axis=1) * self.finest).astype(int) + 1
        grid = numpy.zeros(2 * most + 1)
        hkl = indices_to(reciprocal, self.finest)
        grid[tuple((hkl[~absent(self.model.hall, hkl)] + most).T)] = 1
        return grid, tuple((-most).tolist())

    def _density(self, flux):
        """Over the wavelength, of a flux over the energy."""
        return numpy.maximum(flux, _DARK * flux.max()) / self.nodes**2

    # Places.

    def _values(self, x):
        """Simulator's numbers of the camera for five numbers of the fit."""
        return {name: self.sim_start[name] + _UNIT * number for name, number in zip(CAMERA, x)}

    def _fix_start(self):
        """Steps of the camera count from here."""
        corner, distance = self.camera.corner, self.camera.distance
        self.sim_start = {"close_distance": 1e-3 * distance, "beam_center_fast": -1e-3 * float(corner @ self.camera.fast),
                          "beam_center_slow": -1e-3 * float(corner @ self.camera.slow), "detector_rotx": 0.0, "detector_roty": 0.0}
        self.sim.set(fast_axis=self.camera.fast, slow_axis=self.camera.slow, normal_axis=self.camera.normal, **self.sim_start)

    def _camera_of(self, x):
        values, turn = self._values(x), rotation(numpy.array([0, _UNIT * x[4], 0])) @ rotation(numpy.array([_UNIT * x[3], 0, 0]))
        fast, slow, normal = (turn @ axis for axis in (self.camera.fast, self.camera.slow, self.camera.normal))
        corner = values["close_distance"] * normal - values["beam_center_fast"] * fast - values["beam_center_slow"] * slow
        return Camera(1e3 * corner, fast, slow, self.camera.pixel)

    def table(self, crystal):
        """The Reflections of a crystal on the detector as it stands, without those that have no
        structure factor."""
        self._fix_start()
        self.sim["reciprocal_matrix"] = METRES * crystal.matrix
        table = self.sim.reflections()
        return table, table.photons > 0

    def rays(self, crystal):
        """Those in the band, the lowest indices first."""
        table, lit = self.table(crystal)
        hkl, at, wavelength = table.miller_index[lit], numpy.column_stack([table.fast, table.slow])[lit], table.wavelength[lit]
        primitive, _, number = distinct(ray_of(hkl))
        count = numpy.bincount(number, minlength=len(primitive))
        # The order in the middle of the band stays in it when the crystal turns.
        middle = numpy.abs(numpy.log(wavelength**2 / (self.band[0] * self.band[1])))
        order = numpy.lexsort((middle, number))
        first = order[numpy.searchsorted(number[order], numpy.arange(len(primitive)))]
        rays = Rays(primitive, hkl[first], at[first], count, wavelength[first])
        return rays.chosen(numpy.argsort(numpy.linalg.norm(rays.primitive @ crystal.matrix.T, axis=1), kind="stable"))

    def match(self, crystals, reach, taken=None):
        """Matches spots and rays that are each other's nearest, within ``reach`` pixels, and no
        more of both than chance leaves apart. taken: spots of other crystals."""
        most = max(int(_CROWDED * self.shape[0] * self.shape[1] / (numpy.pi * reach**2)), 20)
        free = numpy.setdiff1d(numpy.arange(len(self.at)), [] if taken is None else taken)
        spots = free[numpy.argsort(-self.light[free], kind="stable")][:most]
        found = []
        for k, crystal in enumerate(crystals):
            rays = self.rays(crystal).chosen(slice(most))
            if not len(rays.at) or not len(spots):
                continue
            distance, near = cKDTree(rays.at).query(self.at[spots])
            mutual = cKDTree(self.at[spots]).query(rays.at)[1][near] == numpy.arange(len(spots))
            found += [(distance[i], k, spots[i], *rays.hkl[near[i]]) for i in numpy.flatnonzero((distance < reach) & mutual)]
        # A spot that two crystals have is the nearer one's.
        seen, rows = set(), [[] for _ in crystals]
        for row in sorted(found):
            if row[2] not in seen:
                seen.add(row[2])
                rows[row[1]].append(row[2:])
        for crystal, mine in zip(crystals, rows):
            mine = numpy.array(mine, int).reshape(-1, 4)
            crystal.spot, crystal.hkl = mine[:, 0], mine[:, 1:]

    def _chances(self):
        """The sigma of each number where nothing is seen, in steps; 0 holds it."""
        units = {"distance": 1.0, "centre": 1.0, "tilt": 1e3 * numpy.radians(1), "orientation": 1e3 * numpy.radians(1), "strain": 1e3}
        wide = {"distance": numpy.inf, "centre": numpy.inf, "tilt": 2.0, "orientation": numpy.inf, "strain": 0.01}
        if self.is_narrow:  # the energy has told the distance already, and spots are broad
            wide |= {"distance": 0.0, "strain": _KNOWN}
        wide |= self.restrain
        groups = GROUPS + OF_CRYSTAL * len(self.crystals)
        return numpy.array([0.0 if group in self.held else wide[group] * units[group] for group in groups])

    def fit(self, held=(), only=None):
        """Fits camera and crystals to the places of matched spots, robustly. held: more groups that
        stay. only: crystals that move."""
        self._fix_start()
        crystals, before = self.crystals, self.held
        self.held = before | set(held)
        sigma = self._chances()
        self.held = before
        for k, crystal in enumerate(crystals):
            if only is not None and crystal not in only:
                sigma[5 + 8 * k:13 + 8 * k] = 0
        free = numpy.flatnonzero(sigma > 0)
        if not len(free):
            return
        known = numpy.flatnonzero(numpy.isfinite(sigma[free]))
        seen = numpy.concatenate([self.at[crystal.spot] for crystal in crystals])
        wide = numpy.hypot(self.sigma, numpy.concatenate([self.noise[crystal.spot] for crystal in crystals]))[:, None]
        about = self._about()
        last = [None, None]

        def tables(y):
            if last[0] is None or not numpy.array_equal(last[0], y):
                x = numpy.zeros(len(sigma))
                x[free] = y
                self.sim.set(**self._values(x[:5]))
                last[:] = y.copy(), [self._of_crystal(crystal, x[5 + 8 * k:13 + 8 * k], x, free, k) for k, crystal in enumerate(crystals)]
            return last[1]

        def residuals(y):
            places = numpy.concatenate([place for place, _ in tables(y)])
            lost = ~numpy.isfinite(places).all(axis=1)  # beside the detector
            off = numpy.where(lost[:, None], 10.0, places - seen)
            return numpy.concatenate([(off / wide).ravel(), (y - about[free])[known] / sigma[free][known]])

        def jacobian(y):
            rows = numpy.concatenate([slope for _, slope in tables(y)])
            return numpy.concatenate([(rows / wide[:, :, None]).reshape(-1, len(free)), numpy.eye(len(free))[known] / sigma[free][known][:, None]])

        found = optimize.least_squares(residuals, numpy.zeros(len(free)), jacobian, loss="soft_l1", max_nfev=40, xtol=1e-7, ftol=1e-7)
        x = numpy.zeros(len(sigma))
        x[free] = found.x
        off = residuals(found.x)[:2 * len(seen)].reshape(-1, 2) * wide
        self.sigma = self._beside_noise(off, crystals)
        wide = numpy.hypot(self.sigma, numpy.concatenate([self.noise[crystal.spot] for crystal in crystals]))[:, None]
        # Weights as the robust sum has them at its least.
        weight = numpy.ones(len(found.fun))
        weight[:2 * len(seen)] = (1 + (off / wide).ravel()**2)**-0.25
        rows = jacobian(found.x) * weight[:, None]
        # Places err together with those nearby no more than by chance, as far as is known.
        covariance = numpy.zeros((len(sigma), len(sigma)))
        covariance[numpy.ix_(free, free)] = numpy.linalg.pinv(rows.T @ rows)
        if "distance" not in held:
            self.covariance = covariance[:5, :5]
        self.camera = self._camera_of(x[:5])
        for k, (crystal, part) in enumerate(zip(crystals, numpy.split(off, numpy.cumsum([len(c.spot) for c in crystals])[:-1]))):
            own = slice(5 + 8 * k, 13 + 8 * k)
            crystal.matrix = linalg.expm(numpy.tensordot(x[own], CHANGES, 1)) @ crystal.matrix
            crystal.covariance, crystal.off = covariance[own, own], part

    def _beside_noise(self, off, crystals):
        """The error beside noise with which half of the spots are as far off as half of normal
        deviates are."""
        noise = numpy.concatenate([self.noise[crystal.spot] for crystal in crystals])[:, None]
        far = lambda sigma: numpy.median(numpy.abs(off) / numpy.hypot(sigma, noise)) - 0.6745
        most = 2 * float(numpy.median(numpy.abs(off))) + 2 * _LEAST_SIGMA
        return _LEAST_SIGMA if far(_LEAST_SIGMA) <= 0 else float(optimize.brentq(far, _LEAST_SIGMA, most))

    def _about(self):
        """Where restraints draw the numbers to, in steps from the camera and the crystals of now.
        """
        about = numpy.zeros(5 + 8 * len(self.crystals))
        about[0] = self.start.distance - self.camera.distance
        about[1:3] = self.camera.pixel * (self.start.foot - self.camera.foot)
        now, then = (numpy.column_stack([camera.fast, camera.slow, camera.normal]) for camera in (self.camera, self.start))
        about[3:5] = 1e3 * Rotation.from_matrix(then @ now.T).as_rotvec()[:2]
        for k, crystal in enumerate(self.crystals):
            change = numpy.linalg.inv(crystal.matrix).T @ numpy.linalg.inv(real_basis(self.model.cell))
            _, left = linalg.polar(change / numpy.cbrt(numpy.linalg.det(change)), side="left")
            strain = left - numpy.eye(3)
            # Reciprocal vectors are strained the other way; back to none is the strain itself.
            about[5 + 8 * k + 3:13 + 8 * k] = 1e3 * numpy.array([strain[0, 0] - strain[1, 1], 1.5 * (strain[2, 2] - numpy.trace(strain) / 3),
                                                                 strain[1, 2], strain[0, 2], strain[0, 1]])
        return about

    def _of_crystal(self, crystal, own, x, free, k):
        """Places of a crystal's spots, and their slopes with respect to the free numbers."""
        change = numpy.tensordot(own, CHANGES, 1)
        self.sim["reciprocal_matrix"] = METRES * linalg.expm(change) @ crystal.matrix
        table = self.sim.reflections(miller_index=crystal.hkl)
        directions = []
        for number in free:
            if number < 5:
                directions.append({list(CAMERA)[number]: _UNIT})
            elif 5 + 8 * k <= number < 13 + 8 * k:
                slope = linalg.expm_frechet(change, CHANGES[number - 5 - 8 * k], compute_expm=False)
                directions.append({"reciprocal_matrix": METRES * slope @ crystal.matrix})
            else:
                directions.append(None)
        slopes = numpy.zeros((len(crystal.hkl), 2, len(free)))
        mine = [i for i, direction in enumerate(directions) if direction is not None]
        zero = {name: 0.0 for name in CAMERA} | {"reciprocal_matrix": numpy.zeros((3, 3))}
        for begin in range(0, len(mine), _SWEEP):
            some = mine[begin:begin + _SWEEP]
            wanted = [zero | directions[i] for i in some] + [zero] * (_SWEEP - len(some))
            for i, columns in zip(some, table.jvps(wanted, zero)):
                slopes[:, 0, i], slopes[:, 1, i] = columns["fast"], columns["slow"]
        return numpy.column_stack([table.fast, table.slow]), numpy.nan_to_num(slopes)

    def widen(self):
        """Gives the crystals the mosaicity by which half of the spots are wider than seen: light of
        a slope of the spectrum moves spots by as much as they are wide."""
        for _ in range(2):
            ratios = []
            for crystal in self.crystals:
                self._fix_start()
                self.sim["reciprocal_matrix"] = METRES * crystal.matrix
                table = self.sim.reflections(miller_index=crystal.hkl)
                here = numpy.trace(table.covariance, axis1=1, axis2=2) / 2
                ratios.append((self.wide[crystal.spot] / here)[table.photons > 0])
            ratios = numpy.concatenate(ratios)
            if (known := numpy.isfinite(ratios)).sum() < _FEWEST_RAYS:
                return
            mosaicity = self.sim["mosaic_spread"] * numpy.sqrt(max(float(numpy.median(ratios[known])), 0.0))
            self.sim["mosaic_spread"] = float(numpy.clip(mosaicity, *_MOSAICITIES))

    @property
    def mosaicity(self):
        """Mosaic spread with which spots are as wide as seen, rad."""
        return self._mosaicity if self.sim is None else self.sim["mosaic_spread"]

    def finish(self):
        """Lets the simulator go; what is left can be pickled."""
        self._mosaicity, self.sim = self.mosaicity, None

    def set_flux(self, flux):
        """Gives the simulator a spectrum."""
        density = self.sim["spectrum_density"]
        inner = density.size - NODES
        values = numpy.zeros(density.size)
        values[inner // 2:inner // 2 + NODES] = self._density(flux)[::-1] / self._density(flux).max()
        self.sim["spectrum_density"] = 1e10 * values.reshape(density.shape)

    # Light.

    def orders(self, crystal):
        """All reflections in the band: hkl, places, wavelengths, and the photons that each node of
        the flux brings, (n, NODES)."""
        table, lit = self.table(crystal)
        table = self.sim.reflections(miller_index=table.miller_index[lit])
        density = self.sim["spectrum_density"]
        ends = (density.size - NODES) // 2
        by_node, zero = numpy.zeros((len(table.photons), NODES)), numpy.zeros_like(density)
        for begin in range(0, NODES, _SWEEP):
            steps = []
            for node in range(begin, begin + _SWEEP):
                step = zero.copy()
                step[0, 0, density.size - 1 - ends - node] = 1 / self.nodes[node]**2  # ascending there
                steps.append({"spectrum_density": step})
            for node, columns in enumerate(table.jvps(steps, ["spectrum_density"]), begin):
                by_node[:, node] = columns["photons"]
        return table.miller_index, numpy.column_stack([table.fast, table.slow]), table.wavelength, by_node

    def fit_flux(self, seen):
        """Fits the flux to the light of rays. seen: of each crystal the primitive indices of rays,
        their light, and its sigma, photons.

        A flux is the exponential of a curve whose second differences are small: smooth, and greater
        than 0.
        """
        rows, light, sigma, of = [], [], [], []
        self.set_flux(numpy.ones(NODES))
        for k, (crystal, (primitive, photons, noise)) in enumerate(zip(self.crystals, seen)):
            hkl, _, _, by_node = self.orders(crystal)
            number = {tuple(ray): i for i, ray in enumerate(primitive.tolist())}
            total = numpy.zeros((len(primitive), NODES))
            for ray, row in zip(ray_of(hkl).tolist(), by_node):
                if tuple(ray) in number:
                    total[number[tuple(ray)]] += row
            use = (noise > 0) & (total.sum(axis=1) > 0)
            rows.append(total[use])
            light.append(photons[use])
            sigma.append(noise[use])
            of.append(numpy.full(use.sum(), k))
        rows, light, sigma, of = (numpy.concatenate(part) for part in (rows, light, sigma, of))
        others = len(self.crystals) - 1
        if len(light) < _FEWEST_RAYS:
            return
        doubt, curvature = _DOUBT, (numpy.diff(numpy.eye(NODES), 2, axis=0) / _BEND)
        curvature = numpy.column_stack([curvature, numpy.zeros((NODES - 2, others))])
        transformed = numpy.arcsinh(light / (2 * sigma))
        strong = light / numpy.hypot(light, 2 * sigma)
        wide = numpy.sqrt(1 / ((light / sigma)**2 + 4) + (doubt * strong)**2)

        def model(p):
            scale = numpy.exp(numpy.concatenate([[0.0], p[NODES:]]))[of]
            return scale * (rows @ numpy.exp(p[:NODES]))

        def residuals(p):
            return numpy.concatenate([(numpy.arcsinh(model(p) / (2 * sigma)) - transformed) / wide, curvature @ p])

        def jacobian(p):
            now = model(p)
            slope = 1 / (numpy.hypot(now, 2 * sigma) * wide)
            by = numpy.exp(numpy.concatenate([[0.0], p[NODES:]]))[of][:, None] * rows * numpy.exp(p[:NODES])
            by = numpy.column_stack([by, *(now * (of == k) for k in range(1, others + 1))])
            return numpy.concatenate([slope[:, None] * by, curvature])

        bright = light > 5 * sigma
        start = numpy.log(numpy.median((light / rows.sum(axis=1))[bright])) if bright.any() else 0.0
        p = numpy.concatenate([numpy.full(NODES, start), numpy.zeros(others)])
        for _ in range(2):
            p = optimize.least_squares(residuals, p, jacobian, loss="soft_l1", max_nfev=100).x
            left = residuals(p)[:len(light)]
            if bright.sum() > _FEWEST_RAYS:  # the scatter is what the fit leaves
                doubt *= float(numpy.clip(1.4826 * numpy.median(numpy.abs(left[bright])), 0.1, 3.0))
                wide = numpy.sqrt(1 / ((light / sigma)**2 + 4) + (doubt * strong)**2)
        self.doubt = doubt
        weight = numpy.concatenate([(1 + residuals(p)[:len(light)]**2)**-0.25, numpy.ones(NODES - 2)])
        covariance = numpy.linalg.pinv((jacobian(p) * weight[:, None]).T @ (jacobian(p) * weight[:, None]))
        self.flux, self.flux_sigma = numpy.exp(p[:NODES]), numpy.sqrt(numpy.diag(covariance))[:NODES]
        self.set_flux(self.flux)
        for crystal, scale in zip(self.crystals[1:], numpy.exp(p[NODES:])):
            crystal.scale = float(scale)
