"""From white-beam stills and a known cell to orientation, strain, camera and flux curve."""

import dataclasses
import functools
import json
import os

import numpy
from scipy import ndimage
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from .._errors import Rejected
from . import _files, _report
from ._camera import read_camera, read_still
from ._claim import Claim
from ._crystal import CELL, cell_of
from ._indexing import real_basis
from ._laue_fit import HC, Crystal, LaueFit, Seen
from ._laue_page import page
from ._laue_search import orientations, ray_of
from ._lattices import MOST_LATTICES
from ._model import Model, is_macromolecular
from ._moments import Moments
from ._noise import largest_number, no_numbers
from ._panels import BEAM
from ._spots import find_spots, local_background, usable_pixels
from ._still import Tried
from ._still_files import identifier
from ._still_search import in_photons
from ._threads import one_blas_thread
from ._verdict import judged
from ._workers import each

_HALF = 5  # pixels: boxes in which spots are measured
_TOLERANCES = tuple(numpy.radians((0.7, 0.2, 0.12, 0.07)))  # by which light may be off: of crowded patterns by less
_TRIED = tuple((factor, tolerance) for factor in (1.0, 1.01, 0.99, 1.02, 0.98) for tolerance in _TOLERANCES)  # distances
_REACHES = (30, 20, 10, 5, 3, 3)  # pixels between spots and their rays, from the first stage to the last
_UNSURE = 0.3  # pixels: error of a place without moments
_NEAR = 1.0  # pixels of a spot that is explained
_TIMES = 2.0  # as many spots as by chance have to be near rays, at least: the fit has chosen among many
_ROUNDS = 3  # in which places, widths and light are fitted in turn
_FEWEST = 8  # spots of a crystal
_ENERGIES = 0.5, 500.0  # keV, of spectra
_AS_MANY = 0.9  # part of the most spots that a choice of axes explains, among which the light decides
_ENOUGH = 0.5  # part of the spots that are explained, with which no other orientation is tried
_ELSEWHERE = numpy.array([(41, 17), (-17, 41), (-41, -17), (17, -41)])  # pixels, where spots are near rays by chance
GROUPS = ("orientation", "strain", "distance", "centre", "tilt", "flux")


@dataclasses.dataclass
class Laue(Tried):
    """The result of a white-beam still. Lengths in mm and A, angles in degrees, places in pixels.
    """

    found: object = dataclasses.field(default=None, repr=False)  # Spots
    at: numpy.ndarray = dataclasses.field(default=None, repr=False)  # places of the spots, pixels
    light: numpy.ndarray = dataclasses.field(default=None, repr=False)  # photons in a box about each, and their sigma
    light_sigma: numpy.ndarray = dataclasses.field(default=None, repr=False)
    shape: tuple = ()
    fit: object = dataclasses.field(default=None, repr=False)  # LaueFit
    band: tuple = ()  # keV
    gain: float = 1.0
    zero: float = 0.0

    @property
    def crystals(self):
        return self.fit.crystals if self.status == "indexed" else []

    @property
    def indexed(self):
        return sum(len(crystal.spot) for crystal in self.crystals)

    @property
    def rms_px(self):
        return float(numpy.sqrt((self._away**2).mean()))

    @property
    def _away(self):
        return numpy.linalg.norm(numpy.concatenate([crystal.off for crystal in self.crystals]), axis=1)

    @property
    def verdict(self):
        """See judged()."""
        return judged(self._against()) if self.status == "indexed" else ("bad", "")

    def _against(self):
        left, far, scatter = len(self.at) - self.indexed, float(numpy.median(self._away)), self.fit.doubt
        yield (left > 0.3 * len(self.at), left > 0.6 * len(self.at), f"{left} of {len(self.at)} spots are not indexed: further crystals, a "
               "spectrum that reaches farther than --energies, or another crystal form")
        yield (far > 0.7, far > 1.2, f"half of the spots are more than {far:.2f} pixels from their reflections: another cell, or a crystal that "
               "is not single")
        strain = max(float(numpy.abs(crystal.strain(self.fit.model.cell)[0]).max()) for crystal in self.crystals)
        yield strain > 5e-3, strain > 2e-2, f"the strain is {strain:.2g}: another cell, or wrong indices"
        if self.fit.model.grid is not None:
            yield (scatter > 0.6, scatter > 1.2, f"the light of spots differs from the model's by a factor of {numpy.exp(scatter):.1f}: wrong "
                   "indices, another crystal, or another spectrum")


def _light(photons, usable, mean, noise, at):
    """Photons above the background in a box about each position, and their sigmas; 0 for boxes that
    are not complete."""
    middle, half = numpy.floor(at).astype(int), _HALF
    width = 2 * half + 1
    inside = (middle >= half).all(axis=1) & (middle < numpy.array(photons.shape[::-1]) - half).all(axis=1)
    sums = lambda image: ndimage.uniform_filter(numpy.where(usable, image, 0).astype("f8"), width, mode="constant") * width**2
    slow, fast = numpy.where(inside[:, None], middle, half)[:, ::-1].T
    whole = inside & (sums(numpy.ones(photons.shape))[slow, fast] > width**2 - 0.5)
    light = sums(photons - mean)[slow, fast]
    sigma = numpy.sqrt(sums(noise)[slow, fast] + numpy.maximum(light, 0) + 1)
    return numpy.where(whole, light, 0), numpy.where(whole, sigma, 0)


def _index(still, *, model, camera, band, noise, most, held, restrain):
    image, camera = read_still(still.image, camera)
    if not image.counting:
        image.photons = numpy.where(no_numbers(image.photons), numpy.nan, image.photons)
        image.cutoff = largest_number(image.photons, image.cutoff)
    pixels = usable_pixels(image.photons, image.cutoff)
    usable = pixels.usable
    image = in_photons(image, usable, noise)
    photons = image.photons
    still.shape, still.gain, still.zero, still.band = photons.shape, image.gain, image.zero, band
    spots, _ = find_spots(photons, usable, 3, image.counting)
    # Those at the rim are cut.
    spots = spots.chosen((spots.boxes[:, [0, 2]] > 0).all(axis=1) & (spots.boxes[:, [1, 3]] < numpy.array(photons.shape[::-1])).all(axis=1))
    mean, scatter, _ = local_background(photons, usable, even=image.counting)
    moments = Moments.measured(spots.at, photons, usable, mean, _HALF)
    at = numpy.where(moments.known[:, None], moments.at, spots.at)
    # A centroid errs by the width over the root of the photons; one of few pixels by a part of a
    # pixel.
    width = numpy.sqrt(numpy.maximum(moments.covariance[:, 0] + moments.covariance[:, 2], _UNSURE**2) / 2 + 1 / 12)
    with numpy.errstate(all="ignore"):
        place = numpy.where(moments.known, width * moments.sigma / moments.photons, _UNSURE)
    order = numpy.argsort(-spots.light, kind="stable")
    still.found, still.at, noise_px = spots.chosen(order), at[order], place[order]
    still.light, still.light_sigma = _light(photons, usable, mean, scatter, still.at)
    wide = numpy.where(moments.known, (moments.covariance[:, 0] + moments.covariance[:, 2]) / 2, numpy.nan)[order]
    if len(order) < _FEWEST:
        raise Rejected(f"it has {len(order)} spots, too few to be indexed")
    wavelengths = HC / band[1], HC / band[0]
    fit = still.fit = LaueFit(camera, model, image, wavelengths, Seen(still.at, noise_px, wide, still.found.light),
                              held, restrain)

    def lights():
        fit.widen()
        # With a narrow spectrum, the light tells the flux without structure factors, too.
        if "flux" not in held and (model.grid is not None or fit.is_narrow):
            fit.fit_flux([_seen(fit, crystal, photons, usable, mean, scatter) for crystal in fit.crystals])

    for _ in range(most):
        if not _one_more(fit, still, model, wavelengths, lights):
            break
    if not fit.crystals:
        raise Rejected(f"no orientation of the cell explains enough of its {len(spots)} spots; another crystal, another camera "
                       "(--geometry), or another spectrum (--energies)")
    for _ in range(_ROUNDS):
        fit.match(fit.crystals, _REACHES[-1])
        fit.fit()
        lights()


def _one_more(fit, still, model, wavelengths, lights):
    """Searches for one more crystal among the remaining spots. Returns whether one is found.
    lights: a function that fits the widths of spots, and the flux."""
    first = not fit.crystals
    taken = numpy.concatenate([crystal.spot for crystal in fit.crystals]) if not first else numpy.zeros(0, int)
    free = numpy.setdiff1d(numpy.arange(len(still.at)), taken)
    if len(free) < _FEWEST:
        return False
    basis, start = numpy.linalg.inv(real_basis(model.cell)).T, fit.camera
    best = None
    holds = not first or "distance" in fit.held
    for factor, tolerance in _TRIED[1:4] if not first else _TRIED[:4] if holds else _TRIED:
        camera = start.at_distance(factor)
        q, sines = camera.directions(still.at[free])
        for _, turn, scale in orientations(q, sines, still.found.light[free], model, wavelengths, tolerance):
            fit.camera = camera if holds else camera.at_distance(scale)
            if fit.is_narrow and first:
                fit.start = fit.camera
            crystal = Crystal(turn @ basis)
            found = _refined(fit, crystal, taken, first, lights)
            if found and (best is None or found[0] > best[0]):
                best = found
            if best is not None and best[0] > _ENOUGH * len(free):
                break
        if best is not None:
            break
    if best is not None:
        best = _best_choice(fit, model, best, taken, first, lights)
    fit.camera = start if best is None else best[1]
    if best is not None:
        fit.crystals.append(best[2])
    return best is not None


def _best_choice(fit, model, best, taken, first, lights):
    """The choice of axes, of those that the lattice allows, or nearly so, that explains most
    spots; among those that explain as many, the one whose structure factors agree with the light.
    best: what _refined returned; returns the same of the choice."""
    found = [best]
    for choice in model.choices()[1:]:
        fit.camera = best[1]
        found.append(_refined(fit, Crystal(best[2].matrix @ numpy.linalg.inv(choice.T)), taken, first, lights))
    most = max(one[0] for one in found if one)
    found = [one for one in found if one and one[0] >= _AS_MANY * most]
    if len(found) == 1 or model.grid is None or "flux" in fit.held:
        return max(found, key=lambda one: one[0])
    others, scatters = fit.crystals, []
    for _, fit.camera, crystal in found:
        fit.crystals, fit.doubt = [*others, crystal], numpy.nan
        lights()
        scatters.append(fit.doubt)
    fit.crystals = others
    return found[int(numpy.argmin(numpy.nan_to_num(scatters, nan=numpy.inf)))]


def _refined(fit, crystal, taken, first, lights):
    """Refines a crystal from a first orientation, in stages. Returns the number of spots near its
    rays, the camera and the crystal; None if chance explains as many spots.

    In a narrow spectrum, the slope of the flux moves the spots: lights() follows each stage. In
    others, the flux is fitted later.
    """
    others, fit.sigma = fit.crystals, 1.0
    for reach in _REACHES[3:] if fit.is_narrow else _REACHES if first else _REACHES[2:]:
        fit.match([crystal], reach, taken)
        if len(crystal.spot) < _FEWEST:
            return None
        fit.crystals = [crystal]
        try:
            if fit.is_narrow:
                lights()
            fit.fit(held=("strain",) if first and reach > _REACHES[-1] else () if first else ("distance", "centre", "tilt"))
        finally:
            fit.crystals = others
    fit.match([crystal], _REACHES[-1], taken)
    near = lambda shift: _within(fit, crystal, taken, shift)
    count, chance = near(0), numpy.mean([near(shift) for shift in _ELSEWHERE])
    if count < _FEWEST or count < max(chance + 5 * numpy.sqrt(chance + 1), _TIMES * chance):
        return None
    return count, fit.camera, crystal


def _within(fit, crystal, taken, shift):
    """The number of spots that would be within a pixel of a ray if they were shifted."""
    free = numpy.setdiff1d(numpy.arange(len(fit.at)), taken)
    rays = fit.rays(crystal)
    return int((cKDTree(rays.at).query(fit.at[free] + shift)[0] < _NEAR).sum()) if len(rays.at) else 0


def _seen(fit, crystal, photons, usable, mean, noise):
    """Primitive indices, light and sigmas of a crystal's rays; sigma is 0 for rays that are not
    alone in their box."""
    rays = fit.rays(crystal)
    light, sigma = _light(photons, usable, mean, noise, rays.at)
    every = numpy.concatenate([fit.rays(other).at for other in fit.crystals])
    near = numpy.abs(rays.at[:, None] - every[None]).max(axis=2) < 2 * _HALF
    # A spot that no crystal explains spoils a box, too.
    explained = numpy.concatenate([other.spot for other in fit.crystals])
    strange = numpy.delete(fit.at, explained, axis=0)
    beside = (numpy.abs(rays.at[:, None] - strange[None]).max(axis=2) < _HALF + 2).any(axis=1)
    return rays.primitive, light, numpy.where((near.sum(axis=1) > 1) | beside, 0, sigma)


def _one(index, *, paths, **how):
    still = Laue(index, paths[index])
    with still.timed():
        _index(still, **how)
    if still.fit is not None:
        still.table = spot_columns(still) if still.status == "indexed" else None
        still.fit.finish()  # results go between processes
    return still


@one_blas_thread
def laue(paths, model, energies, *, geometry=None, lattices=MOST_LATTICES, held=(), restrain=None, noise=None, workers=None, out=None,
         progress=None):
    """Indexes white-beam stills with a known cell, and fits camera, orientation, strain, and the
    flux curve.

    paths: images. model: as in ``index``; without structure factors, a flux curve is fitted only if
    the spectrum is narrow. energies: lower and upper limit of the spectrum, keV; the light may end
    before them. geometry: an .expt, a .det of LaueTools, or a text with the six numbers of such a
    file; None: the image's header. lattices: largest number of crystals on an image. held: names of
    parameters that are held at their start: orientation, strain, distance, centre, tilt, flux.
    restrain: {name: sigma}, restraints of others to their start (degrees, mm, or without a unit);
    not for flux. noise: as in ``index``. out: a folder for indexed.expt, indexed.refl, spots.csv,
    flux.csv, lattices.csv, shots.csv and report.html.

    Returns a Laue for each image; one that cannot be read or indexed contains the reason.
    """
    paths = [os.fspath(path) for path in paths]
    if not paths:
        raise ValueError("there are no images")
    low, high = energies
    if not _ENERGIES[0] <= low < high <= _ENERGIES[1]:
        raise ValueError(f"energies is {low:g},{high:g}; give the lower and the upper end of the spectrum in keV, such as 5,27, from "
                         f"{_ENERGIES[0]:g} to {_ENERGIES[1]:g} keV")
    for name in (*held, *(restrain or {})):
        if name not in GROUPS:
            raise ValueError(f"{name} is not a parameter of this fit; there are {', '.join(GROUPS)}")
    if {*GROUPS} - {"flux"} <= {*held}:
        raise ValueError("all of orientation, strain, distance, centre and tilt are fixed; leave one of them out")
    for name, sigma in (restrain or {}).items():
        if not sigma > 0 or name == "flux":
            raise ValueError(f"the restraint of {name} is {sigma:g}; a sigma has to be greater than 0, and the flux has none")
    if lattices < 1:
        raise ValueError(f"lattices is {lattices}; a still has one at least")
    cell = Model.read(model, solvent=0).cell
    crystal = Model.read(model, max(HC / high / 2, 1.0 if is_macromolecular(cell) else 0.0), HC / numpy.sqrt(low * high))
    camera = None if geometry is None else read_camera(os.fspath(geometry))
    claim = None if out is None else Claim(out)
    one = functools.partial(_one, paths=paths, model=crystal, camera=camera, band=(low, high), noise=noise, most=lattices, held=tuple(held),
                            restrain=restrain)
    stills = []
    for still in each(one, list(range(len(paths))), workers, lambda number, why: Laue(number, paths[number], "rejected", why)):
        stills.append(still)
        if progress:
            progress(still)
    stills.sort(key=lambda still: still.index)
    if out is not None:
        write(out, stills, crystal)
        claim.release()
    return stills


# Results.

def spot_columns(still):
    """A row for each matched spot: arrays by name."""
    parts = []
    for number, crystal in enumerate(still.crystals):
        hkl, _, wavelength, by_node = still.fit.orders(crystal)
        photons = crystal.scale * by_node @ still.fit.flux
        rays = {}
        for i, ray in enumerate(ray_of(hkl).tolist()):
            rays.setdefault(tuple(ray), []).append(i)
        rows = [rays.get(tuple(ray)) for ray in ray_of(crystal.hkl).tolist()] if len(crystal.hkl) else []
        kept = [i for i, row in enumerate(rows) if row]
        rows = [sorted(rows[i], key=lambda j: -photons[j]) for i in kept]
        first, spot = numpy.array([row[0] for row in rows], int), crystal.spot[kept]
        parts.append({"lattice": numpy.full(len(kept), number), "hkl": hkl[first], "wavelength": wavelength[first],
                      "at": still.at[spot], "off": crystal.off[kept], "photons": still.light[spot], "sigma": still.light_sigma[spot],
                      "model": numpy.array([photons[row].sum() for row in rows]), "orders": [hkl_orders(hkl[row]) for row in rows],
                      "several": numpy.array([len(row) > 1 for row in rows])})
    return {name: sum((part[name] for part in parts), []) if name == "orders" else numpy.concatenate([part[name] for part in parts])
            for name in parts[0]}


def hkl_orders(hkl):
    """Orders of reflections on one ray as a text, the brightest first."""
    return " ".join(str(int(n)) for n in numpy.gcd.reduce(hkl, axis=1))


_SPOTS = ["image", "lattice", "h", "k", "l", "energy_keV", "wavelength_A", "x_px", "y_px", "x_calc_px", "y_calc_px", "photons", "sigma",
          "model", "orders"]
_STRAIN = [("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("yz", 1, 2), ("xz", 0, 2), ("xy", 0, 1)]


def spot_rows(stills):
    """A row for each indexed spot, the first with names."""
    yield _SPOTS
    for still in stills:
        t = still.table
        for i in range(len(t["hkl"])):
            x, y = t["at"][i]
            yield [still.index, t["lattice"][i], *t["hkl"][i].tolist(), f"{HC / t['wavelength'][i]:.4f}", f"{t['wavelength'][i]:.5f}",
                   f"{x:.3f}", f"{y:.3f}", f"{x + t['off'][i][0]:.3f}", f"{y + t['off'][i][1]:.3f}", f"{t['photons'][i]:.6g}",
                   f"{t['sigma'][i]:.3g}", f"{t['model'][i]:.6g}", t["orders"][i]]


def flux_rows(stills):
    """A row for each node of each flux curve, the first with names."""
    yield ["image", "energy_keV", "flux_per_keV", "relative_sigma"]
    for still in stills:
        if numpy.isfinite(still.fit.flux_sigma).all():
            for wavelength, flux, sigma in zip(still.fit.nodes, still.fit.flux / still.fit.flux.max(), still.fit.flux_sigma):
                yield [still.index, f"{HC / wavelength:.4f}", f"{flux:.5g}", f"{sigma:.3g}"]


_STILL = ["shot", "image", "status", "verdict", "spots", "indexed", "lattices", "within_half_px", "within_1_px", "rms_px", "distance_mm", "distance_sigma", "foot_fast_px",
          "foot_fast_sigma", "foot_slow_px", "foot_slow_sigma", "tilt_x_deg", "tilt_x_sigma", "tilt_y_deg", "tilt_y_sigma", "flux_scatter",
          "gain", "zero", "seconds", "reason", "why"]


def rows(stills):
    """A row for each still, the first with names."""
    yield _STILL
    for still in stills:
        row = {"shot": still.index, "image": still.image, "status": still.status, "spots": 0 if still.at is None else len(still.at), "why": still.why,
               "gain": f"{still.gain:.4g}", "zero": f"{still.zero:.4g}", "seconds": f"{still.seconds:.2f}"}
        row["verdict"], row["reason"] = still.verdict
        if still.status == "indexed":
            fit, away = still.fit, still._away
            sigma = numpy.sqrt(numpy.diag(fit.covariance)) if fit.covariance is not None else numpy.zeros(5)
            tilt = _tilt(fit)
            row |= {"indexed": still.indexed, "lattices": len(still.crystals), "within_half_px": int((away < 0.5).sum()),
                    "within_1_px": int((away < 1).sum()), "rms_px": f"{still.rms_px:.4f}",
                    "distance_mm": f"{fit.camera.distance:.4f}", "distance_sigma": f"{sigma[0]:.2g}", "flux_scatter": f"{fit.doubt:.3f}"}
            for name, value, s in zip(("foot_fast", "foot_slow"), fit.camera.foot, sigma[1:3] / fit.camera.pixel):
                row |= {f"{name}_px": f"{value:.3f}", f"{name}_sigma": f"{s:.2g}"}
            for name, value, s in zip(("tilt_x", "tilt_y"), tilt, numpy.degrees(1e-3 * sigma[3:5])):
                row |= {f"{name}_deg": f"{value:.4f}", f"{name}_sigma": f"{s:.2g}"}
        yield [row.get(name, "") for name in _STILL]


def _tilt(fit):
    """How far the detector has been turned about the laboratory's x and y since the start, degrees.
    """
    now, then = (numpy.column_stack([camera.fast, camera.slow, camera.normal]) for camera in (fit.camera, fit.start))
    return Rotation.from_matrix(now @ then.T).as_rotvec(degrees=True)[:2]


def lattice_rows(stills, model):
    """A row for each crystal, the first with names. Strains are deviatoric, in units of 1e-3, in
    the frame with x along a, z along c*."""
    yield ["shot", "lattice", "spots", "rms_px", "scale", *(f"{kind}{name}" for name, _, _ in _STRAIN for kind in ("strain_", "sigma_")),
           "orientation_sigma_deg", *CELL, *(f"{axis}*_{i}" for axis in "abc" for i in "xyz")]
    for still in stills:
        for number, crystal in enumerate(still.crystals):
            strain, sigma = crystal.strain(model.cell)
            yield [still.index, number, len(crystal.spot), f"{numpy.sqrt((crystal.off**2).sum(axis=1).mean()):.4f}", f"{crystal.scale:.4g}",
                   *(text for _, i, j in _STRAIN for text in (f"{1e3 * strain[i, j] + 0.0:.4f}", f"{1e3 * sigma[i, j]:.2g}")),
                   f"{numpy.degrees(crystal.orientation_sigma.max()):.2g}", *(f"{v:.5f}" for v in cell_of(crystal.matrix)),
                   *(f"{v:.7f}" for v in crystal.matrix.T.ravel())]


def experiments(stills, model, folder):
    """DIALS' experiment list, an experiment for each crystal."""
    content = {"__id__": "ExperimentList", **{name: [] for name in ("experiment", "imageset", "beam", "detector", "goniometer", "scan", "crystal",
                                                                     "profile", "scaling_model")}}
    for number, still in enumerate(stills):
        camera, bright = still.fit.camera, float(still.fit.nodes[numpy.argmax(still.fit.flux / still.fit.nodes**2)])
        content["imageset"].append({"__id__": "ImageSet", "images": [os.path.relpath(still.image, folder)], "mask": "", "gain": "", "pedestal": "",
                                    "dx": "", "dy": "", "params": {}})
        content["beam"].append({"__id__": "polychromatic", "direction": (-BEAM).tolist(), "divergence": 0.0, "sigma_divergence": 0.0,
                                "polarization_normal": [0, 1, 0], "polarization_fraction": 0.99, "flux": 0.0, "transmission": 1.0,
                                "wavelength": bright, "wavelength_range": sorted((HC / still.band[1], HC / still.band[0]))})
        content["detector"].append({"panels": [{
            "name": "Panel", "type": "SENSOR_PAD", "fast_axis": camera.fast.tolist(), "slow_axis": camera.slow.tolist(),
            "origin": camera.corner.tolist(), "raw_image_offset": [0, 0], "image_size": list(map(int, still.shape[::-1])),
            "pixel_size": [camera.pixel, camera.pixel], "trusted_range": [-1e6, 1e9], "thickness": 0, "material": "", "mu": 0,
            "identifier": "", "mask": [], "gain": still.gain, "pedestal": still.zero, "px_mm_strategy": {"type": "SimplePxMmStrategy"}}]})
        for k, crystal in enumerate(still.crystals):
            content["experiment"].append({"__id__": "Experiment", "identifier": identifier(still, k), "beam": number, "detector": number,
                                          "crystal": len(content["crystal"]), "imageset": number})
            content["crystal"].append({"__id__": "crystal", "space_group_hall_symbol": model.hall,
                                       **{f"real_space_{n}": list(v) for n, v in zip("abc", numpy.linalg.inv(crystal.matrix))}})
    return content


def reflections(stills):
    """DIALS' table of the indexed spots, with the columns that laue-dials adds: wavelength (A), and
    whether a ray has several orders."""
    parts, begin = [], 0
    for still in stills:
        t, camera = still.table, still.fit.camera
        at, calc, flat = t["at"], t["at"] + t["off"], lambda v: numpy.hstack([v, numpy.full((len(v), 1), 0.5)])
        middle, count = numpy.floor(at).astype(int), len(at)
        ray = camera.corner + camera.pixel * (at[:, :1] * camera.fast + at[:, 1:] * camera.slow)
        s1 = ray / (t["wavelength"] * numpy.linalg.norm(ray, axis=1))[:, None]
        box = [middle[:, 0] - _HALF, middle[:, 0] + _HALF + 1, middle[:, 1] - _HALF, middle[:, 1] + _HALF + 1, numpy.zeros(count), numpy.ones(count)]
        within = still.fit.sigma**2 * numpy.array([1.0, 1.0, 0.0])
        parts.append({"miller_index": t["hkl"].astype("i4"), "id": (begin + t["lattice"]).astype("i4"), "panel": numpy.zeros(count, "u8"),
                      "bbox": numpy.column_stack(box).astype("i4"), "flags": numpy.full(count, _files.INDEXED, "u8"), "s1": s1,
                      "rlp": s1 - BEAM / t["wavelength"][:, None], "xyzobs.px.value": flat(at), "xyzobs.px.variance": numpy.tile(within, (count, 1)),
                      "xyzobs.mm.value": numpy.hstack([camera.pixel * at, numpy.zeros((count, 1))]),
                      "xyzobs.mm.variance": numpy.tile(camera.pixel**2 * within, (count, 1)), "xyzcal.px": flat(calc),
                      "xyzcal.mm": numpy.hstack([camera.pixel * calc, numpy.zeros((count, 1))]), "wavelength": t["wavelength"],
                      "harmonics": t["several"].astype("u1"), "intensity.sum.value": t["photons"], "intensity.sum.variance": t["sigma"]**2})
        begin += len(still.crystals)
    return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}


def write(out, stills, model):
    """Tables, lists and the page of stills."""
    os.makedirs(out, exist_ok=True)
    good = [still for still in stills if still.status == "indexed"]
    if good:
        listed = experiments(good, model, os.path.abspath(out))
        _files.write_file(os.path.join(out, "indexed.expt"), json.dumps(listed, indent=1).encode())
        _files.write_reflections(os.path.join(out, "indexed.refl"), reflections(good), [one["identifier"] for one in listed["experiment"]])
    _report.write_table(os.path.join(out, "shots.csv"), list(rows(stills)))
    _report.write_table(os.path.join(out, "lattices.csv"), list(lattice_rows(good, model)))
    _report.write_table(os.path.join(out, "spots.csv"), list(spot_rows(good)))
    _report.write_table(os.path.join(out, "flux.csv"), list(flux_rows(good)))
    _report.write_page(os.path.join(out, "report.html"), "White-beam stills", page(stills, good, list(rows(stills)), list(lattice_rows(good, model))))
