"""Rotation sweeps: fits the pixels of all frames together, with an intensity for each
reflection."""

import copy
import dataclasses
import os
import time

import numpy
from scipy import special

from .._errors import DATA_ERRORS, reason
from ..experiment import Detector, Expt
from . import _files, _report
from ._blocks import METRES, OF_SET, Crystals, Measurement
from ._claim import Claim
from ._crystal import CELL, cell_of, check_system, rotation, turned_by
from ._explain import DETECTOR, Fit, Freedom, displacements, simulators
from ._foreground import foreground
from ._one_panel import faces_of, in_one_panel
from ._positions import placed, scattering_vectors
from ._response import Response
from ._scan import Scan, chosen, of_other_crystals, pixels, with_boxes
from ._shoeboxes import check_pixels
from ._still_fit import UNITS, in_units
from ._still_table import in_words
from ._sweep_page import page
from ._sweep_blocks import SweepBlocks
from ._threads import one_blas_thread
from ._verdict import judged

_MOST_PIXELS = 2e7  # pixels of boxes that are fitted
_FITTED = 3e5  # pixels of a fit
_FEWEST, _HERE = 10, 0.5  # reflections, and part of them, whose nodes have to be in their boxes
_BRIGHT = 10.0  # sigmas
MOST_SETS = 8  # sets of mosaic blocks; over many frames a rocking curve is known better than a still shows it
_HALOS = (80.0, 160.0, 320.0)  # edges of blocks that make halos, A
_PAYS = 0.03  # part of the sum of squares beyond that of noise, by which another set of blocks has to make the deviance less
_LAYER, _MOST_LAYERS = 0.8, 8  # layers of the sensor: pixels by which neighbours are apart where light is most oblique
_AXIS = 17.5  # mrad, sigma of the axis before the fit
_REACH = 100.0  # mrad of the axis in a step
_MOSAICITY, _BANDWIDTH, _DIVERGENCE = 0.1, 2e-4, 2e-4  # where fits start: degrees, part of the wavelength, rad


@dataclasses.dataclass
class Sweep:
    """The result of a sweep. Lengths in A and mm, angles in degrees, positions in pixels."""

    index: int
    status: str = "refined"  # or "rejected"
    why: str = ""
    frames: int = 0
    first: int = 1  # number of the first frame
    reflections: int = 0
    bright: int = 0  # reflections above 10 sigmas
    chi2: float = numpy.nan  # per pixel of these, with the model's variance, or that of one photon if it is larger
    chi2_poisson: float = numpy.nan  # the same, always with the model's variance
    rms_px: float = numpy.nan
    sums: float = numpy.nan  # photons of the model over those of the table, median of bright reflections
    sums_apart: float = numpy.nan  # the distance from 1 within which half of these ratios lie
    sums_far: int = 0  # number of ratios that differ from 1 by more than 5 %
    sums_data: float = numpy.nan  # as sums, for photons of the data
    sums_data_far: int = 0
    turned: float = numpy.nan  # from the start to the refined crystal, in the middle of the sweep
    axis_turned: float = numpy.nan
    axis_unsure: float = None  # sigma of the axis by the pixels, if it is so large that the axis is held
    seconds: float = 0.0
    matrix: numpy.ndarray = None  # columns a*, b*, c*, 1/A, in the laboratory, with the axis at 0
    explained: object = dataclasses.field(default=None, repr=False)
    rows: numpy.ndarray = dataclasses.field(default=None, repr=False)  # rows of the table
    columns: dict = dataclasses.field(default_factory=dict, repr=False)  # columns of these reflections
    boxes: object = dataclasses.field(default=None, repr=False)
    own: numpy.ndarray = dataclasses.field(default=None, repr=False)  # pixels whose nearest reflection is their box's

    @property
    def verdict(self):
        """See judged()."""
        return judged(self._against()) if self.explained else ("bad", "")

    def _against(self):
        yield (self.chi2 > 3, self.chi2 > 5 and self.explained.profile_error > 0.2, f"chi-square of bright reflections is {self.chi2:.3g} per pixel: "
               "the fit did not find the crystal and the detector, or spots have other shapes; see the pictures, and refine more frames")
        yield (self.rms_px > 0.7, self.rms_px > 1.5, f"bright reflections are {self.rms_px:.2f} pixels from their places: another crystal, or a wrong "
               "detector")
        yield (abs(self.sums - 1) > 0.1, abs(self.sums - 1) > 0.3, f"the model has {self.sums:.2f} times the table's photons: rocking curves are "
               "wrong, or the gain is")


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Choices of sweeps(), which describes them."""

    system: str = "triclinic"
    freedom: Freedom = Freedom(sets=MOST_SETS)
    margin: int = 2
    gain: float = 1.0
    offset: float = 0.0
    response: Response = Response()

    def __post_init__(self):
        check_pixels(self.gain, self.offset, self.margin)


def _profile(scan, listed):
    """DIALS' profile model of an experiment."""
    profiles, number = listed.get("profile", []), listed["experiment"][scan.index].get("profile")
    return profiles[number] if isinstance(number, int) and 0 <= number < len(profiles) else {}


def _simulators(scan, listed, response):
    experiment = listed["experiment"][scan.index]
    said = _profile(scan, listed).get("sigma_m")
    width = said if isinstance(said, float) and 0.005 < said < 3 else _MOSAICITY
    panels = listed["detector"][experiment["detector"]]["panels"]
    layers = _layers(panels)
    expt = Expt(file=f"{scan.path}:{scan.index}")
    fields = {"thickness_steps": layers or None, **response.of_detector(scan.panels[0]["pixel_size"][0])}
    begin = numpy.radians(width), _BANDWIDTH, _DIVERGENCE
    sim, one = simulators((expt, in_one_panel(panels, fields)), *begin)
    plain = one if len(panels) == 1 else simulators((expt, Detector(**fields)), *begin)[1]
    sim.set(phi0=scan.phi(0), reciprocal_matrix=scan.start_matrix(listed) * METRES)
    # Layers begin at their depths: the detector moves back by half of one.
    depth = 0.5 * sim["sensor_thickness"] * sim["layer_fraction"] if layers else 0.0
    faces = faces_of(plain)
    at = numpy.argmin([abs(face["close_distance"] - plain["close_distance"])
                       + abs(face["beam_center_fast"] - plain["beam_center_fast"]) for face in faces])
    sim.set(**faces[at])
    sim["close_distance"] += depth
    return sim, one, plain, faces, depth


def _layers(panels):
    """The number of layers of the sensor: enough that images of neighbouring layers are less than a
    pixel apart where light is most oblique; 0 if the thickness is not known."""
    first, smear = panels[0], 0.0
    if first.get("px_mm_strategy", {}).get("type") != "ParallaxCorrectedPxMmStrategy" or not first.get("thickness"):
        return 0
    for panel in panels:
        fast, slow, origin = (numpy.array(panel[name]) for name in ("fast_axis", "slow_axis", "origin"))
        edges = numpy.array(panel["image_size"]) * panel["pixel_size"]
        for corner in (origin + i * edges[0] * fast + k * edges[1] * slow for i in (0, 1) for k in (0, 1)):
            along = abs(corner @ numpy.cross(fast, slow))
            smear = max(smear, numpy.sqrt(max(corner @ corner - along**2, 0)) / max(along, 1e-9))
    return int(numpy.clip(numpy.ceil(first["thickness"] * smear / first["pixel_size"][0] / _LAYER), 1, _MOST_LAYERS))


def _nearest(sim, plain, boxes, exposures):
    """For each pixel the nearest Miller index, and on which side of beam and axis the pixel is: a
    reflection crosses the Ewald sphere on both."""
    q = scattering_vectors(plain, boxes.panel, boxes.rows)
    axis = sim["spindle_axis"]
    side = q @ numpy.cross(axis, sim["beam_direction"]) > 0
    for number in numpy.unique(boxes.exposure):
        here = boxes.exposure == number
        q[here] = q[here] @ rotation((exposures[number]["phi0"] + sim["osc"] / 2) * axis)  # to where the crystal is at 0
    return numpy.column_stack([numpy.rint(q @ numpy.linalg.inv(sim["reciprocal_matrix"]).T), side]).astype("i4")


class _SweepFit(Fit):
    blocks = SweepBlocks
    always_held = ()
    unsure = None  # degrees, sigma of the axis by the pixels, if it is so large that the axis is held

    def free(self, *more):
        free = super().free(*more)
        free[OF_SET.index("halo")] = False  # the blocks of the first set are those that the others' are measured by
        return free

    def known(self):
        known = super().known()
        axis = numpy.array(self.model.groups()) == "axis"
        known.reach[axis] = _REACH
        if "axis" not in self.restrain:
            known.sigma[axis] = _AXIS
        return known

    def _axis_is_unsure(self, *held):
        """Whether the rotation is too short, or its effect too weak, to determine the axis better
        than it is known before."""
        which = numpy.array(self.model.groups())[self.free(*held)] == "axis"
        told = self.fit.curvature - numpy.diag(which / _AXIS**2)
        unit = numpy.sqrt(numpy.maximum(numpy.diag(told), 1e-30))
        covariance = numpy.linalg.pinv(told / unit / unit[:, None], 1e-10) / unit / unit[:, None]
        worst = numpy.sqrt(numpy.linalg.eigvalsh(covariance[numpy.ix_(which, which)]).max())
        if worst > _AXIS:
            self.unsure = float(numpy.degrees(1e-3 * worst))
        return worst > _AXIS

    def _halos(self):
        """Edges of small blocks to try, relative to those of the other blocks."""
        edge = (self.model.start["ncells_a"] * numpy.exp(self.model.number(self.x, "size a"))
                * numpy.linalg.norm(numpy.linalg.inv(self.model.cells[0].start)[0]))
        return [length / edge for length in _HALOS if length < edge]

    def _deviance(self):
        """Poisson's. Unlike the sum of squares it does not fall because the model's light makes
        variances larger."""
        fit, data = self.fit, numpy.maximum(self.used.data, 0)
        photons = fit.background + numpy.maximum(1 + fit._left(self.image)[1], 1e-6)[fit.spot] * self.image
        return 2 * float(numpy.sum(photons - data + special.xlogy(data, data / photons)))

    def _another_set(self):
        """Adds a set of blocks: rotated to where the residuals require one most, or wider, or of
        small blocks. Returns False if nothing is gained, or if there are ``sets`` already."""
        kept = self.model, self.x, self.fit, self.image, self.cost
        fit, model = self.fit, self.model
        left, _, p = fit._left(self.image)
        norm = fit.sums(p * p) + fit.precision
        axes = numpy.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)])
        own = self.x[:model.first].reshape(model.sets, -1)
        if len(own) == self.sets:
            return False
        shares = numpy.exp(own[:, 6])
        middle = shares @ own[:, :3] / shares.sum()
        reach = 1.5 * numpy.sqrt(numpy.mean((numpy.exp(own[0, 3:6]) * model.start["mosaic_abc"])**2))
        tried = [(reach * axis / numpy.linalg.norm(axis), 0.6, 0.2, 1.0) for axis in (*axes, *-axes)]
        tried += [(numpy.zeros(3), 3.0, 0.1, 1.0), *[(numpy.zeros(3), 1.0, 0.03, edge) for edge in self._halos()]]
        best = None
        for turn, *kind in tried:
            other, y = model.with_set(self.x, middle + turn, *kind)
            photons = other.of_set(y, model.sets) * fit.weights
            photons = photons - (fit.sums(photons * p) / norm)[fit.spot] * p
            gain = max(photons @ left, 0)**2 / max(photons @ photons, 1e-300)
            if best is None or gain > best[0]:
                best = gain, other, y
        count = len(self.used.data)
        enough = self._deviance() - max(_PAYS * (self.cost - count), len(OF_SET) * numpy.log(count))  # at least Schwarz' criterion for its numbers
        _, self.model, self.x = best
        self.fit = self._problem(self.model)
        self.run(100.0, 4, *DETECTOR, "cell", "B", "size", "bandwidth")
        if self._deviance() > enough:
            self.model, self.x, self.fit, self.image, self.cost = kept
            return False
        return True

    def positions_and_rocking(self):
        """Fits orientation, detector and axis, then the shapes of spots on the detector and over
        the frames."""
        start, held = self.x.copy(), ("B", "bandwidth", "size", "scale", "cell")
        self.run(100.0, 6, *held, enough=0.01)
        if "axis" not in self.held | self.restrain.keys() and self._axis_is_unsure(*held):
            self.held.add("axis")
            self.x = start  # all that followed an axis which went astray
            self.run(100.0, 6, *held, enough=0.01)
        self.run(100.0, 15, "B", "scale", enough=1e-3)
        while self._another_set():
            pass
        self.run(100.0, 8, "B", enough=1e-5)
        self.keep_sigmas("B")


def begin_fit(sweep, scan, listed, table, wanted):
    """Begins the fit of a scan: sets ``rows`` and ``boxes`` of the sweep, and returns a _SweepFit,
    a simulator of the detector's panels, the boxes of the table, and the distance (m) by which the
    detector is moved back, half a layer of the sensor."""
    sweep.frames, sweep.first = sum(name is not None for name in scan.names), scan.first
    rows = sweep.rows = chosen(table, scan, _MOST_PIXELS)
    sweep.reflections = len(rows)
    if len(rows) < _FEWEST:
        raise ValueError(f"its table has {len(rows)} reflections of experiment {scan.index} that are indexed and have boxes on its panels and "
                         f"its frames {scan.first} to {scan.last}, and {_FEWEST} are needed at least; give the table of this list")
    sim, one, plain, faces, depth = _simulators(scan, listed, wanted.response)
    check_system(sim["reciprocal_matrix"] / METRES, wanted.system, f"experiment {scan.index}")
    bbox = table["bbox"][rows].astype(int)
    bbox[:, 4:] -= scan.first - 1
    corners, axes = placed(plain)
    feet = [-(axis[:2] @ corner) / sim["pixel_size"] for corner, axis in zip(corners, axes)]
    boxes = pixels(scan, bbox, table["panel"][rows].astype(int), wanted.margin, feet, wanted.gain, wanted.offset,
                   of_other_crystals(table, scan, listed))
    exposures = [{"phi0": scan.phi(k)} for k in range(len(scan))]
    boxes = sweep.boxes = boxes.with_reflections(_nearest(sim, plain, boxes, exposures))
    here, seen = ((boxes.sums(which) > 0).sum() for which in (_own(boxes, table, rows), numpy.ones(len(boxes.data))))
    if here < max(_FEWEST, _HERE * seen):
        raise ValueError(f"{here} of the {seen} boxes of its table contain the node of their reflection, and half of them have to, by "
                         "the list's crystal and geometry; give the table of this list, or index again")
    light = boxes.sums(boxes.data - boxes.background)
    fitted = numpy.argsort(-light)
    fitted = fitted[numpy.cumsum(boxes.sums(numpy.ones(len(boxes.data)))[fitted]) < _FITTED]
    shown = dataclasses.replace(boxes, panel=0 * boxes.panel, exposure=boxes.exposure * len(faces) + boxes.panel)
    exposures = [exposure | face | {"close_distance": face["close_distance"] + depth} for exposure in exposures for face in faces]
    measurement = Measurement(exposures=exposures, faces=faces, seconds=scan.seconds, response=wanted.response)
    fit = _SweepFit((sim, one), shown, fitted, Crystals(wanted.system, volume=True), measurement, wanted.freedom)
    return fit, plain, bbox, depth


def _own(boxes, table, rows):
    """Which pixels of a box are its own reflection's."""
    return (boxes.hkl[boxes.reflection][:, :3] == table["miller_index"][rows][boxes.box]).all(axis=1)


def _explain(sweep, scan, listed, table, wanted):
    fit, plain, bbox, depth = begin_fit(sweep, scan, listed, table, wanted)
    with numpy.errstate(all="ignore"):  # a fit tries numbers that are unusual
        fit.positions_and_rocking()
        result, model = fit.result(), fit.model
    result.values["close_distance"] -= depth  # to the sensor's face
    sweep.explained, new = result, result.values["spindle_axis"]
    rows, boxes, axis = sweep.rows, sweep.boxes, model.sim["spindle_axis"]
    sweep.axis_unsure = fit.unsure
    matrix = result.lattices[0].matrix
    sweep.turned = float(numpy.degrees(numpy.linalg.norm(turned_by(matrix @ numpy.linalg.inv(model.cells[0].start)))))
    sweep.matrix = model.at_zero(matrix, new)
    sweep.axis_turned = float(numpy.degrees(numpy.arctan2(numpy.linalg.norm(numpy.cross(axis, new)), axis @ new)))
    summed = foreground(_profile(scan, listed), plain, table["xyzcal.px"][rows][boxes.box, :2], boxes.panel, boxes.rows) \
        if "xyzcal.px" in table else True
    _measure(sweep, boxes, table, bbox, summed, scan.has(*bbox[:, 4:].T))


def _measure(sweep, boxes, table, bbox, summed, whole):
    """Compares the fit with the data and with the table, for each reflection. summed: the pixels of
    its boxes that the table sums. whole: reflections whose frames are all there."""
    result, rows = sweep.explained, sweep.rows
    model = result.light
    own = sweep.own = _own(boxes, table, rows)

    def sums(values, where=own):
        return numpy.bincount(boxes.box[where], weights=values[where], minlength=boxes.count)

    count, left = numpy.maximum(sums(numpy.ones(len(model))), 1), (boxes.data - boxes.background - model)**2
    variance = boxes.background + model
    light = sums(model)
    lit = own & (model > 0.1 * boxes.background)
    sigma = numpy.sqrt(numpy.maximum(sums(variance, lit), 1.0))
    sweep.columns = {"chi2": sums(left / numpy.maximum(variance, 1)) / count, "light": light, "sigma": sigma,
                     "data": sums(boxes.data - boxes.background, lit)}
    for name, axis in (("fast", boxes.rows[:, 1]), ("slow", boxes.rows[:, 0]), ("frame", boxes.exposure)):
        sweep.columns[name] = sums(model * (axis + 0.5)) / numpy.maximum(light, 1e-9)
    low, high = bbox[boxes.box, ::2], bbox[boxes.box, 1::2]
    at = numpy.column_stack([boxes.rows[:, ::-1], boxes.exposure])
    inside = own & summed & (low <= at).all(axis=1) & (at < high).all(axis=1)
    sweep.columns |= {"foreground": sums(boxes.data - boxes.background, inside), "foreground_model": sums(model, inside),
                      "foreground_variance": numpy.maximum(sums(variance, inside), 1.0)}
    bright, said = light > _BRIGHT * sigma, table.get("intensity.sum.value")
    if said is not None and "intensity.sum.variance" in table:
        bright = said[rows] > _BRIGHT * numpy.sqrt(numpy.maximum(table["intensity.sum.variance"][rows], 1e-9))
        if (known := bright & whole).any():
            ratios, of_data = (sweep.columns[name][known] / said[rows][known] for name in ("foreground_model", "foreground"))
            sweep.sums, sweep.sums_apart = float(numpy.median(ratios)), float(numpy.median(numpy.abs(ratios - 1)))
            sweep.sums_data = float(numpy.median(of_data))
            sweep.sums_far, sweep.sums_data_far = (int((numpy.abs(r - 1) > 0.05).sum()) for r in (ratios, of_data))
    sweep.bright, sweep.columns["bright"] = int(bright.sum()), bright
    if bright.any():
        sweep.chi2, sweep.chi2_poisson = (float(sums(left / v)[bright].sum() / count[bright].sum())
                                          for v in (numpy.maximum(variance, 1), variance))
    away = displacements(boxes, model)[1]
    with numpy.errstate(invalid="ignore"):  # nan of none
        sweep.rms_px = float(numpy.sqrt((away**2).sum() / len(away)))


_COLUMNS = ["sweep", "status", "verdict", "frames", "reflections", "bright", "chi2", "chi2_poisson", "rms_px", "sums", "sums_apart",
            "sums_far", "sums_data", "sums_data_far", "turned_deg", "axis_turned_deg", "distance_mm", *CELL, "sets", "divergence_h_mrad",
            "divergence_v_mrad", "bandwidth_percent", "cells_a", "cells_b", "cells_c", "cells_d", "cells_e", "cells_f", "mosaicity_deg", "psf_um", "dead_time_ns", "seconds", "reason", "why"]


def _line(sweep):
    row = {"sweep": sweep.index, "status": sweep.status, "frames": sweep.frames, "reflections": sweep.reflections,
           "bright": sweep.bright, "sums_far": sweep.sums_far, "sums_data_far": sweep.sums_data_far, "seconds": f"{sweep.seconds:.2f}", "why": sweep.why}
    row["verdict"], row["reason"] = sweep.verdict
    if sweep.explained:
        row |= {name: f"{getattr(sweep, name):.4g}" for name in ("chi2", "chi2_poisson", "rms_px", "sums", "sums_apart", "sums_data")}
        row |= {"turned_deg": f"{sweep.turned:.5f}", "axis_turned_deg": f"{sweep.axis_turned:.5f}",
                "distance_mm": f"{1e3 * sweep.explained.values['close_distance']:.4f}"}
        row |= {name: f"{value:.5f}" for name, value in zip(CELL, cell_of(sweep.matrix))}
        row |= {name: f"{value:.6g}" for name, value in in_words(sweep.explained) if name in _COLUMNS}
    return [row.get(name, "") for name in _COLUMNS]


def _write(out, found, listed, table, path):
    """Writes refined.expt, refined.refl, sweeps.csv and report.html."""
    os.makedirs(out, exist_ok=True)
    good = [sweep for sweep in found if sweep.explained]
    lines = [_COLUMNS, *map(_line, found)]
    _report.write_table(os.path.join(out, "sweeps.csv"), lines)
    _report.write_page(os.path.join(out, "report.html"), "Refined sweeps",
                       [_report.table(lines[0], lines[1:]), *(part for sweep in good for part in page(sweep, table))])
    if not good:
        return
    content = copy.deepcopy(listed)
    for sweep in good:
        scan, experiment = Scan(listed, sweep.index, path), content["experiment"][sweep.index]
        detector = copy.deepcopy(content["detector"][experiment["detector"]])
        detector.pop("hierarchy", None)
        for panel, *places in zip(detector["panels"], *sweep.explained.panels):
            panel |= {name: (scale * place).tolist() for name, place, scale in
                      zip(("origin", "fast_axis", "slow_axis"), places, (1e3, *(1 / numpy.linalg.norm(p) for p in places[1:])))}
        experiment["detector"], experiment["goniometer"] = len(content["detector"]), len(content["goniometer"])
        content["detector"].append(detector)
        content["goniometer"].append(scan.with_axis(sweep.explained.values["spindle_axis"]))
    _files.write_experiments(os.path.join(out, "refined.expt"), content,
                             {sweep.index: Scan(listed, sweep.index, path).crystal(sweep.matrix) for sweep in good},
                             read_from=path)
    _files.write_reflections(os.path.join(out, "refined.refl"), _reflections(good, table, listed, path))


def _reflections(good, table, listed, path):
    parts = []
    for sweep in good:
        first = sweep.first - 1
        found = sweep.columns
        observed = [name for name in table if name.startswith("xyzobs.") or name in ("flags", "s1", "entering")]
        parts.append({"miller_index": table["miller_index"][sweep.rows].astype("i4"), "id": table["id"][sweep.rows].astype("i4"),
                      "panel": table["panel"][sweep.rows].astype("u8"), "bbox": table["bbox"][sweep.rows].astype("i4"),
                      **{name: table[name][sweep.rows] for name in observed},
                      "xyzcal.px": numpy.column_stack([found["fast"], found["slow"], found["frame"] + first]),
                      "intensity.sum.value": found["data"], "intensity.sum.variance": found["sigma"]**2,
                      "intensity.foreground.value": found["foreground"],
                      "intensity.foreground.variance": found["foreground_variance"],
                      "intensity.foreground.model": found["foreground_model"],
                      "intensity.prf.value": found["light"], "intensity.prf.variance": found["sigma"]**2,
                      "chi2": found["chi2"]})
    return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}


def are_sweeps(experiments):
    """Whether an experiment list has rotation scans of several frames."""
    listed = _files.read_experiments(experiments)
    return any(Scan.of(listed, index) for index in range(len(listed["experiment"])))


@one_blas_thread
def sweeps(experiments, reflections, *, system="triclinic", held=(), restrain=None, sets=MOST_SETS, margin=2, gain=1.0,
           offset=0.0, response=Response(), out=None, progress=None):
    """Fits the pixels of rotation sweeps, over all frames together: an intensity for each
    reflection, orientation, cell, goniometer axis, detector, mosaicity, size of blocks, divergence
    and bandwidth.

    experiments: an experiment list of DIALS (.expt) with scans; paths of frames are relative to its
    folder, and frames may be compressed (.gz, .bz2). reflections: its reflection table (.refl),
    integrated or indexed. system: the crystal system, which determines the refined numbers of the
    cell: one of refine.CELL_SYSTEMS. held: names of parameters that are held at their start.
    restrain: {name: sigma}, restraints of others to their start. sets: largest number of sets of
    mosaic blocks. margin: pixels and frames by which boxes are enlarged. gain, offset: an image
    contains photons * gain + offset. response: the Response with which the fit of the detector's
    response begins. out: a folder for refined.expt, refined.refl, sweeps.csv and report.html.

    Returns a Sweep for each experiment.
    """
    path = str(experiments)
    freedom = Freedom(tuple(held), in_units(held, restrain or {}, UNITS | {"axis": UNITS["tilt"], "halo": 1}, response), sets)
    wanted = Wanted(system, freedom, margin, gain, offset, response)
    claim = None if out is None else Claim(out)
    listed, table = _files.read_experiments(path), _files.read_reflections(reflections)
    found = []
    for index in range(len(listed["experiment"])):
        begin, sweep = time.perf_counter(), Sweep(index)
        try:
            scan = Scan(listed, index, path).only_present()
            response.check(scan.seconds, "dead_time" in freedom.restrain)
            table = with_boxes(table, scan)
            _explain(sweep, scan, listed, table, wanted)
        except DATA_ERRORS as error:
            sweep.status, sweep.why = "rejected", reason(error)
        sweep.seconds = time.perf_counter() - begin
        found.append(sweep)
        if progress:
            progress(sweep)
    if out is not None:
        _write(out, found, listed, table, path)
        claim.release()
    return found
