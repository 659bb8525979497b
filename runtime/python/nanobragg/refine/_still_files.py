"""Files of DIALS and CrystFEL with the results of stills."""

import hashlib
import json
import os

import numpy

from .. import _core
from . import _files
from ._background import variance
from ._explain import BOX
from ._panels import BEAM

_FULL = 0.4  # partiality from which on intensities are written divided by it


def _places(still, refined):
    """Fast and slow axes and corners (mm) of a still's panels."""
    if refined:
        corner, fast, slow = still.explained.panels
        return [(f / numpy.linalg.norm(f), s / numpy.linalg.norm(s), 1e3 * c) for f, s, c in zip(fast, slow, corner)]
    corner, fast, slow, _ = still.fitted.detector.placed()
    return list(zip(fast, slow, corner))


def identifier(still, lattice):
    """By which DIALS knows an experiment, also among those of other files."""
    return hashlib.sha256(f"{os.path.abspath(still.image)} {lattice}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _file_and_frame(image):
    """The file of an image's name, and the number of its frame, None where the file is one image.
    """
    name, colon, frame = image.rpartition(":")
    return (name, int(frame)) if colon and frame.isdigit() else (image, None)


def experiments(stills, model, folder, refined=False):
    """DIALS' experiment list of stills, one for each lattice, as indexed or as their pixels have
    it. folder: names of images are relative to it."""
    content = {"__id__": "ExperimentList", "experiment": [], "imageset": [], "beam": [], "detector": [], "goniometer": [],
               "scan": [], "crystal": [], "profile": [], "scaling_model": []}
    for number, still in enumerate(stills):
        header, detector = still.header, still.fitted.detector
        places, panels = _places(still, refined), detector.panels
        sizes = panels.size.tolist() if panels.size is not None else [still.shape]
        raw = [(0, 0)] if panels.raw is None else panels.raw.tolist()
        for k, one in enumerate(still.explained.lattices if refined else still.lattices):
            content["experiment"].append({"__id__": "Experiment", "identifier": identifier(still, k), "beam": number, "detector": number,
                                          "crystal": len(content["crystal"]), "imageset": number})
            content["crystal"].append({"__id__": "crystal", "space_group_hall_symbol": model.hall,
                                       **{f"real_space_{n}": list(v) for n, v in zip("abc", numpy.linalg.inv(one.matrix))}})
        name, frame = _file_and_frame(still.image)
        of_file = {} if frame is None else {"single_file_indices": [frame]}
        content["imageset"].append({"__id__": "ImageSet", "images": [os.path.relpath(name, folder)], **of_file, "mask": "",
                                    "gain": "", "pedestal": "", "dx": "", "dy": "", "params": {}})
        content["beam"].append({"__id__": "monochromatic", "direction": [0, 0, 1], "wavelength": header.wavelength,
                                "divergence": 0, "sigma_divergence": 0, "polarization_normal": [0, 1, 0],
                                "polarization_fraction": header.polarization, "flux": 0, "transmission": 1})
        content["detector"].append({"panels": [{
            "name": f"Panel {i}" if len(panels) > 1 else "Panel", "type": "SENSOR_PAD", "fast_axis": list(fast), "slow_axis": list(slow),
            "origin": list(corner), "raw_image_offset": list(begin[::-1]), "image_size": list(size[::-1]),
            "pixel_size": [detector.pixel, detector.pixel],
            "trusted_range": [min(0, header.lowest), min(header.cutoff * header.gain + header.zero, 1e9)],
            "thickness": header.thickness, "material": header.material,
            "mu": 1 / detector.attenuation if detector.attenuation else 0, "identifier": "", "mask": [], "gain": header.gain / header.spread,
            "pedestal": header.zero, "px_mm_strategy": {"type": "SimplePxMmStrategy"}}
            for i, ((fast, slow, corner), size, begin) in enumerate(zip(places, sizes, raw))]})
    return content


def _rays(still, refined, at, panel):
    """Vectors s1 (1/A) to pixels (fast, slow) of these panels."""
    fast, slow, corner = (numpy.array(axis)[panel] for axis in zip(*_places(still, refined)))
    ray = corner + still.header.pixel * (at[:, :1] * fast + at[:, 1:] * slow)
    return ray / (still.header.wavelength * numpy.linalg.norm(ray, axis=1)[:, None])


def _columns(number, hkl, panel, middle, half, there, s1, flags):
    """Columns that all tables have, of one lattice's reflections. middle: pixels in the middle of
    boxes; there: places by the model."""
    count = len(hkl)
    frame = numpy.full((count, 1), 0.5)
    low, high = middle - half, middle + half + 1
    return {"miller_index": hkl.astype("i4"), "id": numpy.full(count, number, "i4"), "panel": panel.astype("u8"),
            "bbox": numpy.column_stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1], numpy.zeros(count), numpy.ones(count)]).astype("i4"),
            "flags": numpy.full(count, flags, "u8"), "s1": s1, "xyzcal.px": numpy.hstack([there, frame])}


def _joined(parts):
    return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}


def reflections(stills):
    """DIALS' reflection table: indexed spots with boxes of 15 x 15 pixels, of each lattice."""
    parts = []
    for still in stills:
        panels, hkl = still.fitted.detector.panels, still.of_spots("hkl")
        panel = panels.number(still.found.at)
        at = still.found.at - panels.begin[panel][:, ::-1]
        noise = variance(still.found.light + still.beneath, still.calibration)
        light, there, pixel, ray = still.found.light, at + still.of_spots("off"), still.header.pixel, _rays(still, False, at, panel)
        for k in range(len(still.lattices)):
            use = still.of == k
            frame = numpy.full((use.sum(), 1), 0.5)
            within = numpy.full((use.sum(), 2), 1 / 12)  # variance of what is anywhere in a pixel
            middle = numpy.floor(at[use]).astype(int)
            parts.append(_columns(len(parts), hkl[use], panel[use], middle, BOX // 2, there[use], ray[use], _files.INDEXED)
                         | {"xyzobs.px.value": numpy.hstack([at[use], frame]), "xyzobs.px.variance": numpy.hstack([within, 0 * frame]),
                            "xyzobs.mm.value": numpy.hstack([pixel * at[use], 0 * frame]),
                            "xyzobs.mm.variance": numpy.hstack([pixel**2 * within, 0 * frame]),
                            "intensity.sum.value": light[use], "intensity.sum.variance": noise[use]})
    return _joined(parts)


def integrated(stills, full=False):
    """DIALS' reflection table of all reflections that are integrated, of each lattice: partial
    intensities as sums, and divided by their partialities as those of profiles. full: both divided
    by partiality and corrected (lp), without reflections of small partiality, for programs that
    take none of these numbers."""
    parts = []
    for still in stills:
        detector, every = still.fitted.detector, still.explained.integrated
        for k, lattice in enumerate(still.explained.lattices):
            one = every.chosen(every.lattice == k)
            at = one.at - detector.panels.begin[one.panel][:, ::-1]
            q, beam, p = one.hkl @ lattice.matrix.T, BEAM / still.header.wavelength, one.partiality
            missing = -((q * q).sum(axis=1) + 2 * q @ beam) / (2 * numpy.linalg.norm(numpy.cross(q, beam), axis=1))
            whole = one.per / p * numpy.exp(0.5 * lattice.B * one.squares)  # without the B factor
            common = _columns(len(parts), one.hkl, one.panel, numpy.floor(at).astype(int), one.half[:, None], at,
                              _rays(still, True, at, one.panel), _files.INTEGRATED)
            inverse = one.doubt / p**2
            parts.append(common | {
                "xyzobs.px.value": common["xyzcal.px"], "xyzcal.mm": numpy.hstack([detector.pixel * at, numpy.zeros((len(at), 1))]),
                "d": one.squares**-0.5, "delpsical.rad": missing, "intensity.sum.value": one.photons, "intensity.sum.variance": one.variance,
                "intensity.prf.value": one.photons / p, "intensity.prf.variance": one.variance / p**2 + one.photons**2 * inverse,
                "partiality": p, "partiality.inv.variance": inverse, "lp": numpy.median(whole) / whole if len(whole) else whole,
                "qe": numpy.ones(len(p)), "background.mean": one.background, "num_pixels.foreground": one.pixels.astype("i4"),
                "profile.chi2": one.chi2})
    table = _joined(parts)
    return _corrected(table) if full else table


def _corrected(table):
    """The table of intensities that need no partiality and no correction."""
    table = {name: column[table["partiality"] > _FULL] for name, column in table.items()}
    lp, p, photons = table["lp"], table["partiality"], table["intensity.sum.value"]
    whole = lp * photons / p
    variance = lp**2 * (table["intensity.sum.variance"] / p**2 + photons**2 * table["partiality.inv.variance"])
    ones = numpy.ones(len(p))
    return table | {f"intensity.{kind}.{name}": column for kind in ("sum", "prf") for name, column in (("value", whole), ("variance", variance))} | {
        "lp": ones, "partiality": ones, "partiality.inv.variance": 0 * ones}


def write_indexed(out, stills, model):
    """indexed.expt and indexed.refl."""
    _write_list(out, "indexed", experiments(stills, model, os.path.abspath(out)), reflections(stills))


def write_integrated(out, stills, model, full):
    """integrated.expt, integrated.refl and integrated.stream. full: see integrated()."""
    table = integrated(stills, full)
    listed = _write_list(out, "integrated", experiments(stills, model, os.path.abspath(out), refined=True), table)
    rows = numpy.column_stack([table["miller_index"], table["panel"], table["xyzcal.px"][:, :2], table["intensity.sum.value"],
                               numpy.sqrt(table["intensity.sum.variance"]), table["background.mean"]]).astype(float)
    begins = numpy.searchsorted(table["id"], range(len(listed["experiment"]) + 1))
    chunks = []
    for still in stills:
        file, event = _file_and_frame(still.image)
        values = still.explained.values
        chunks.append((os.path.abspath(file), "" if event is None else f"//{event}", values["bandwidth_sigma"],
                       max(values["hdiv_sigma"], values["vdiv_sigma"]), _profile_radius(still)))
    _core.write_stream(os.path.join(out, "integrated.stream"), os.path.join(out, "integrated.expt"), chunks,
                       [rows[begin:end] for begin, end in zip(begins, begins[1:])])


def _profile_radius(still):
    """The radius, 1/A, of spheres at reciprocal lattice points that reflect as those of a still do:
    their distances from the Ewald sphere, weighted by partialities, have the same variance.
    partialator takes none above a quarter of the shortest reciprocal axis."""
    one, k0 = still.explained.integrated, 1 / still.header.wavelength
    matrices = numpy.array([lattice.matrix for lattice in still.explained.lattices])
    ray = numpy.einsum("nij,nj->ni", matrices[one.lattice], one.hkl) + k0 * BEAM
    off = numpy.linalg.norm(ray, axis=1) - k0
    shortest = numpy.linalg.norm(matrices, axis=1).min()
    return min(float(numpy.sqrt(5 * (one.partiality * off**2).sum() / one.partiality.sum())), 0.24 * shortest)


def _write_list(out, name, listed, table):
    """An experiment list, which is returned, and its reflection table."""
    _files.write_file(os.path.join(out, f"{name}.expt"), json.dumps(listed, indent=1).encode())
    _files.write_reflections(os.path.join(out, f"{name}.refl"), table, [one["identifier"] for one in listed["experiment"]])
    return listed
