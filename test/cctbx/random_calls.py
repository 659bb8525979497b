#!/usr/bin/env python3
"""Random sequences of settings and calls on our class nanoBragg beside simtbx's own: what can be read after each, and all images.

    random_calls.py BUILD_PYTHON                          the sequences of calls.json, with what simtbx's C++ gave
    random_calls.py BUILD_PYTHON --simtbx FOLDER [--seed S] [--count N] [--record FILE]

FOLDER has simtbx_nanoBragg_ext.so, which Debian's python3-cctbx lacks; sequences are then new ones. --record writes what simtbx gave in
them to a file such as calls.json. docs/cctbx.md names the differences on purpose, which sequences avoid."""

import argparse
import importlib.util
import json
import math
import multiprocessing
import os
import random
import re
import sys
import tempfile
import traceback
import warnings

import numpy

try:
    from cctbx import uctbx
    from cctbx.array_family import flex
    from dxtbx.model import BeamFactory
    from dxtbx.model.detector import DetectorFactory
    from dxtbx_model_ext import flex_Beam
except ImportError as error:
    print(f"skipped: {sys.executable} has no cctbx and dxtbx (Debian: python3-cctbx): {error}")
    sys.exit(0)

HERE = os.path.dirname(os.path.abspath(__file__))
# Read after each step. Not among them: what crashes simtbx before it is set (indices, Fbg_vs_stol), and the lists of sources, which
# reading changes in simtbx.
STATE = """Amatrix F000 Ncells_abc XDS_ORGXY adc_offset_adu adxv_beam_center_mm amorphous_density_gcm3 amorphous_molecular_weight_Da
amorphous_sample_size_mm amorphous_sample_thick_mm beam_center_mm beam_vector beamcenter_convention beamsize_mm calib_seed
close_distance_mm curved_detector default_F default_Fbg denzo_beam_center_mm detector_attenuation_length_mm
detector_calibration_noise_pct detector_pivot detector_psf_fwhm_mm detector_psf_kernel_radius_pixels detector_psf_type
detector_rotation_deg detector_thick_mm detector_thickstep_mm detector_thicksteps detector_twotheta_deg detpixels_fastslow
detsize_fastslow_mm dials_origin_mm dispersion_pct dispsteps distance_meters distance_mm divergence_hv_mrad divstep_hv_mrad divsteps_hv
energy_eV exposure_s fdet_vector flicker_noise_pct fluence flux interpolate missets_deg mosaic_domains mosaic_seed mosaic_spread_deg
mosflm_beam_center_mm nopolar odet_vector osc_deg oversample phi_deg phisteps pix0_vector_mm pixel_size_mm point_pixel
polar_Bvector polar_vector polarization quantum_gain readout_noise_adu region_of_interest round_div sdet_vector seed spindle_axis
spot_scale twotheta_axis unit_cell_tuple wavelength_A xtal_shape xtal_size_mm""".split()

# Without these, sequences come upon differences on purpose.
KEPT = ("seed", "default_F", "nopolar", "xtal_shape", "oversample", "unit_cell_tuple", "Ncells_abc", "interpolate")
IMAGES = ("add_nanoBragg_spots()", "add_background()", "apply_psf()", "add_noise()")


def sequence(draws, shapes):
    """Words of the constructor, and steps: (name, value) of settings, (name(), arguments) of calls."""
    def number(low, high):
        return float(f"{draws.uniform(low, high):.5g}")

    def numbers(count, low, high):
        return [number(low, high) for _ in range(count)]

    def cell():
        return numbers(3, 20, 60) + draws.choice([[90.0] * 3, [90.0, number(92, 110), 90.0], [90.0, 90.0, 120.0]])

    def direction(near):
        vector = numpy.array([x + number(-0.05, 0.05) for x in near])
        return (vector / numpy.linalg.norm(vector)).tolist()

    polarized = draws.random() < 0.3
    words = {"detpixels_slowfast": [draws.randint(12, 30), draws.randint(12, 30)], "pixel_size_mm": number(0.3, 0.9), "distance_mm": number(40, 90),
             "wavelength_A": number(0.8, 1.6), "Ncells_abc": [draws.randint(3, 9) for _ in range(3)], "unit_cell_Adeg": cell(),
             "oversample": 1 if polarized else draws.randint(0, 2)}
    steps = [("seed", draws.randint(1, 10**6)), ("default_F", number(10, 100)), ("nopolar", not polarized)]
    if draws.random() < 0.2:
        frame = numpy.reshape(rotation(draws, 0.1), (3, 3))
        slow, fast = words["detpixels_slowfast"]
        corner = frame @ [-number(2, 9), number(2, 9), -words["distance_mm"]]
        steps = [("unit_cell_tuple", words["unit_cell_Adeg"]), *steps, ("Ncells_abc", words["Ncells_abc"]),
                 ("oversample", max(1, words["oversample"])), ("interpolate", 0)]
        words = {"panel": [frame[:, 0].tolist(), (-frame[:, 1]).tolist(), corner.tolist(), [words["pixel_size_mm"]] * 2, [fast, slow]],
                 "beam": [words["wavelength_A"], draws.choice([0.0, 10 ** number(10, 12)]), number(0, 1)]}
    square = draws.random() < 0.3
    steps.append(("xtal_shape", "shapetype." + ("Square" if square else draws.choice(shapes))))
    settings = {
        "wavelength_A": lambda: number(0.8, 1.6), "distance_mm": lambda: number(40, 90),
        "close_distance_mm": lambda: number(40, 90), "beam_center_mm": lambda: numbers(2, 2, 9),
        "detector_pivot": lambda: draws.choice(["pivot.Sample", "pivot.Beam"]), "detector_rotation_deg": lambda: numbers(3, -10, 10),
        "detector_twotheta_deg": lambda: number(-10, 10), "pixel_size_mm": lambda: number(0.3, 0.9),
        "detpixels_fastslow": lambda: [draws.randint(12, 30), draws.randint(12, 30)], "Ncells_abc": lambda: [draws.randint(3, 9) for _ in range(3)],
        "xtal_shape": lambda: "shapetype." + draws.choice(shapes), "unit_cell_tuple": cell, "missets_deg": lambda: numbers(3, -90, 90),
        "Amatrix": lambda: [x / 40 for x in rotation(draws)], "default_F": lambda: number(10, 100), "F000": lambda: number(0, 100),
        "Fhkl_tuple": lambda: [draws.randint(2, 8), draws.randint(1, 999)], "mosaic_spread_deg": lambda: draws.choice([0.0, number(0.1, 2)]),
        "mosaic_domains": lambda: draws.randint(1, 5), "mosaic_seed": lambda: draws.randint(1, 10**6), "phi_deg": lambda: number(-90, 90),
        "detector_thick_mm": lambda: draws.choice([0.0, number(0.05, 0.5)]), "detector_thicksteps": lambda: draws.randint(1, 3),
        "detector_attenuation_length_mm": lambda: number(0.1, 0.5), "fluence": lambda: 10 ** number(20, 29), "flux": lambda: 10 ** number(10, 14),
        "exposure_s": lambda: number(0.1, 3), "beamsize_mm": lambda: number(0.01, 0.2), "polarization": lambda: number(-1, 1), "dispersion_pct": lambda: draws.choice([0.0, number(0.1, 2)]), "dispsteps": lambda: draws.randint(1, 4),
        "divergence_hv_mrad": lambda: numbers(2, 0, 5), "divsteps_hv": lambda: [draws.randint(1, 3), draws.randint(1, 3)],
        "round_div": lambda: draws.random() < 0.5, "spot_scale": lambda: number(0.1, 10),
        "point_pixel": lambda: draws.random() < 0.5, "oversample": lambda: draws.randint(1, 3),
        "region_of_interest": lambda: [sorted(draws.sample(range(12), 2)), sorted(draws.sample(range(12), 2))],
        "spindle_axis": lambda: direction([0, 0, 1]), "beam_vector": lambda: direction([1, 0, 0]), "polar_vector": lambda: direction([0, 0, 1]),
        "polar_Bvector": lambda: direction([0, -1, 0]),
        "twotheta_axis": lambda: direction([0, 0, -1]), "amorphous_sample_thick_mm": lambda: number(0.01, 1),
        "amorphous_sample_size_mm": lambda: numbers(3, 0.01, 0.2), "amorphous_density_gcm3": lambda: number(0.5, 2),
        "amorphous_molecular_weight_Da": lambda: number(18, 300), "default_Fbg": lambda: number(1, 10),
        "Fbg_vs_stol": lambda: [[0.0, number(2, 4)], [0.1, number(4, 8)], [0.2, number(5, 9)], [0.35, number(2, 7)], [0.8, number(1, 2)], [2.0, number(1, 2)]],
        "quantum_gain": lambda: number(0.5, 3), "adc_offset_adu": lambda: number(30, 60), "readout_noise_adu": lambda: draws.choice([0.0, number(0, 5)]),
        "flicker_noise_pct": lambda: draws.choice([0.0, number(0, 5)]), "detector_calibration_noise_pct": lambda: draws.choice([0.0, number(0, 5)]),
        "detector_psf_fwhm_mm": lambda: draws.choice([0.0, number(0.2, 0.9)]), "detector_psf_type": lambda: draws.choice(["shapetype.Gauss", "shapetype.Fiber"]),
        "detector_psf_kernel_radius_pixels": lambda: draws.randint(0, 6), "calib_seed": lambda: draws.randint(1, 10**6), "seed": lambda: draws.randint(1, 10**6),
        "xray_beams": lambda: [[number(0.9e-10, 1.4e-10), 10 ** number(10, 12), *direction([-1, 0, 0])] for _ in range(draws.randint(1, 3))],
    }
    if square:  # a new cell changes the numbers of cells to fractions
        settings = {name: draw for name, draw in settings.items() if name not in ("unit_cell_tuple", "Amatrix", "xtal_shape")}
    else:  # simtbx's formula for round crystals has no digits left in the direct beam
        del settings["F000"]
    if polarized:  # simtbx has one polarization of all samples of a pixel
        settings = {name: draw for name, draw in settings.items() if not name.startswith(("oversample", "disp", "div", "xray", "detector_thick"))}
    for _ in range(draws.randint(4, 12)):
        if draws.random() < 0.2:
            steps.append(draws.choice([("randomize_orientation()", []), ("set_mosaic_blocks()", [rotation(draws, 0.02) for _ in range(draws.randint(1, 4))]),
                                       ("get_mosaic_blocks()", []), ("add_nanoBragg_spots()", []), ("get_intfile_scale()", [])]))
            if steps[-1][0] == "set_mosaic_blocks()":  # simtbx takes further ones from beyond its memory
                settings.pop("mosaic_domains", None)
        elif draws.random() < 0.1:
            frame = (numpy.reshape(rotation(draws, 0.1), (3, 3)) * [[1], [-1], [1]]).tolist()
            steps += draws.choice([[("beamcenter_convention", "convention." + draws.choice(["ADXV", "MOSFLM", "XDS", "DIALS", "DENZO"]))],
                                   [("beamcenter_convention", "convention.MOSFLM"), ("beamcenter_convention", "convention.Custom"), *zip(("odet_vector", "sdet_vector", "fdet_vector"), frame)]])
            steps.append(("distance_mm", number(40, 90)))  # places the detector
        elif draws.random() < 0.03 and not polarized:  # steps that are wider than the range leave no source
            steps += [("divergence_hv_mrad", numbers(2, 2, 3)), ("divstep_hv_mrad", numbers(2, 1, 1.9))]
        elif draws.random() < 0.1:  # at an angle of 0 simtbx has the crystal of the angle before
            steps += [("phi_deg", number(-90, 90)), draws.choice([("osc_deg", number(0.1, 3)), ("phisteps", draws.randint(1, 4)), ("phistep_deg", number(0.05, 1))])]
        elif draws.random() < 0.05 and "xray_beams" not in dict(steps):  # simtbx takes the energy when sources are made
            steps += [("energy_eV", number(8000, 15000)), ("divergence_hv_mrad", [0.0, 0.0])]
        else:
            name = draws.choice(list(settings))
            steps.append((name, settings[name]()))
    if not polarized and "xray_beams" not in dict(steps) and draws.random() < 0.3:  # all three, of which simtbx takes those that are not set for 0
        count = draws.randint(1, 3)
        steps += [("xray_source_intensity_fraction", numbers(count, 0.1, 1)), ("xray_source_XYZ", [direction([-1, 0, 0]) for _ in range(count)]),
                  ("xray_source_wavelengths_A", [number(0.9e-10, 1.4e-10) for _ in range(count)])]
    steps.append(("add_nanoBragg_spots()", []))
    background = [("Fbg_vs_stol", settings["Fbg_vs_stol"]()), ("amorphous_sample_thick_mm", number(0.01, 1)), ("add_background()", [])]
    spread = [("apply_psf()", ["shapetype." + draws.choice(["Gauss", "Fiber"]), draws.choice([-1.0, number(0.5, 3)]), draws.randint(2, 5)])]  # simtbx spreads all light evenly where the radius is -1, its default
    steps += draws.choice([[], background, spread, background + spread])
    steps += draws.choice([[], [("to_smv_format()", [])], [("add_noise()", []), ("to_smv_format()", [draws.choice([0, 1])])]])
    return words, steps


def rotation(draws, angle=math.pi):
    """Nine numbers of a random one."""
    axis = numpy.array([draws.gauss(0, 1) for _ in range(3)])
    x, y, z = axis / numpy.linalg.norm(axis)
    cross, angle = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), draws.uniform(0, angle)
    return (numpy.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross).reshape(-1).tolist()


def argument(module, name, value):
    if isinstance(value, str):
        kind, _, member = value.partition(".")
        return getattr(getattr(module, kind), member)
    if name == "Fhkl_tuple":
        width, seed = value
        indices = numpy.indices((2 * width + 1,) * 3).reshape(3, -1).T - width
        return (flex.miller_index([tuple(int(i) for i in h) for h in indices]),
                flex.double(numpy.random.RandomState(seed).uniform(1, 100, len(indices))), None)
    if name == "xray_beams":
        beams = flex_Beam(len(value))
        for i, (wavelength, flux, *towards) in enumerate(value):
            beams[i] = BeamFactory.simple_directional(towards, wavelength)
            beams[i].set_flux(flux)
            beams[i].set_polarization_fraction(0.5)
        return beams
    if name == "xray_source_XYZ":
        return flex.vec3_double([tuple(x) for x in value])
    if name.startswith("xray_source"):
        return flex.double(value)
    if name == "Fbg_vs_stol":
        return flex.vec2_double([tuple(row) for row in value])
    if name == "set_mosaic_blocks()":
        return flex.mat3_double([tuple(block) for block in value])
    return tuple(tuple(x) if isinstance(x, list) else x for x in value) if isinstance(value, list) else value


def result_of(module, sim, name, value):
    """The result of a step: an image, numbers or bytes; None where there is nothing."""
    if not name.endswith("()"):
        setattr(sim, name, argument(module, name, value))
        return None
    if name == "to_smv_format()":
        with tempfile.NamedTemporaryFile(suffix=".img") as file:
            sim.to_smv_format(file.name, *value)
            with open(file.name, "rb") as written:
                return written.read()
    arguments = [argument(module, name, value)] if name == "set_mosaic_blocks()" else [argument(module, name, x) for x in value]
    result = getattr(sim, name[:-2])(*arguments)
    if name in IMAGES:
        return sim.raw_pixels.as_numpy_array().copy()
    return result if result is None or isinstance(result, float) else [[float(x) for x in row] for row in result]


def detector_and_beam(panel, beam):
    fast, slow, origin, pixel, size = (tuple(x) for x in panel)
    wavelength, flux, polarization = beam
    beam = BeamFactory.simple(wavelength)
    beam.set_flux(flux)
    beam.set_polarization_fraction(polarization)
    return DetectorFactory.make_detector("", fast, slow, origin, pixel, size, (0, 1e9)), beam


def run(module, words, steps):
    """The result of each step, and what can be read after it."""
    sim = module.nanoBragg(*detector_and_beam(**words)) if "panel" in words else module.nanoBragg(
        **words | {"unit_cell_Adeg": uctbx.unit_cell(words["unit_cell_Adeg"])})
    yield None, state(sim)
    for name, value in steps:
        yield result_of(module, sim, name, value), state(sim)


def state(sim):
    return {name: plain(getattr(sim, name)) for name in STATE}


def plain(value):
    """Lists, numbers and words."""
    if isinstance(value, (tuple, list)):
        return [plain(x) for x in value]
    return str(value) if hasattr(type(value), "names") else float(value)


def of_simtbx(folder, words, steps):
    """The same in a process of its own, which may die: what came before."""
    def work(pipe):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        from scitbx import matrix  # noqa: F401 (registers types)
        spec = importlib.util.spec_from_file_location("simtbx_nanoBragg_ext", os.path.join(folder, "simtbx_nanoBragg_ext.so"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for step in run(module, words, steps):
            pipe.send(step)
        os._exit(0)

    ours, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(theirs,))
    process.start()
    theirs.close()
    found = []
    try:
        while True:
            found.append(ours.recv())
    except EOFError:
        pass
    process.join()
    return found


def summary(image):
    """Few numbers that differ if any pixel does: a file of all pixels would be large."""
    flat = image.reshape(-1)
    return [float(x) for x in (flat.max(), *(flat @ numpy.cos(numpy.arange(flat.size) * step) for step in (0.0, 0.7, 1.9, 2.6)))]


def to_record(steps, found):
    """Results of simtbx as JSON: the changes of a state, the summary of an image, the header of a file. Noise is left out, since a
    last digit may change a count."""
    before, record = {}, []
    for name, (result, now) in zip(["", *(name for name, _ in steps)], found):
        if isinstance(result, bytes):
            result = result[:1024].rstrip(b" ").decode("latin1")
        elif isinstance(result, numpy.ndarray):
            result = summary(result)
        record.append([None if name == "add_noise()" else result, {key: value for key, value in now.items() if before.get(key) != value}])
        before = now
    return record


def of_record(record):
    now = {}
    for result, changed in record:
        now = now | changed
        yield result, now


def header(file):
    """Lines of an SMV file, their numbers in fewer digits than are written. One ends without a semicolon in simtbx."""
    lines = file.partition(b"\f")[0].decode("latin1").replace(";", "").splitlines()
    return [re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.3g}", line) for line in lines]


def difference(name, ours, theirs):
    """None, or how a result differs. A record has less of theirs."""
    if ours is None or theirs is None:
        return None
    if isinstance(ours, bytes):
        there = theirs.encode("latin1") if isinstance(theirs, str) else theirs[:1024]
        if header(ours) != header(there):
            return f"the header is {header(ours)} instead of {header(there)}"
        return None if isinstance(theirs, str) else numbers_differ(*(numpy.frombuffer(file[1024:], "<u2") for file in (ours, theirs)), 2e-5)
    if name in IMAGES and not isinstance(theirs, numpy.ndarray):
        ours = summary(ours)
    if name == "add_noise()":
        off = numpy.abs(ours - theirs) > 1e-6 * numpy.abs(theirs).max()
        return f"{off.sum()} of {off.size} pixels" if off.mean() > 0.01 else None
    return numbers_differ(ours, theirs, *((1e-7, 0) if name in IMAGES else (1e-9,)))


def numbers_differ(ours, theirs, of_largest, least=1e-13):
    """None, or how lists of numbers differ by more than a part of the largest, or words at all."""
    if isinstance(ours, str):
        return None if ours == theirs else f"{ours} instead of {theirs}"
    a, b = (numpy.hstack([numpy.ravel(x) for x in numpy.atleast_1d(numpy.asarray(y, dtype=object))]).astype(float) if isinstance(y, list)
            else numpy.ravel(y).astype(float) for y in (ours, theirs))
    if a.shape != b.shape:
        return f"{a.size} numbers instead of {b.size}"
    off = ~((numpy.abs(a - b) <= of_largest * numpy.abs(b).max(initial=0) + least) | (numpy.isnan(a) & numpy.isnan(b)))
    return f"{a[off][:4]} instead of {b[off][:4]}, {off.sum()} of {off.size}" if off.any() else None


def compare(module, words, steps, theirs):
    """None, or what differs first. theirs: results and states, which end early where simtbx's process did."""
    known = False
    try:
        for (name, _), there, here in zip([("nanoBragg()", None), *steps], theirs, run(module, words, steps)):
            known = known or name == "seed"  # before, the seed is of the clock and the cell of a crystal that has none is any
            for key, what in [(name, difference(name, here[0], there[0])), *((key, numbers_differ(value, there[1][key], 1e-9)) for key, value in here[1].items())]:
                if what and known:
                    return f"after {name}: {key}: {what}"
    except Exception:
        return traceback.format_exc()
    return None


def fewer(module, folder, words, steps, wrong):
    """The steps without those that the difference does not need."""
    for step in list(steps):
        without = [other for other in steps if other is not step]
        if step[0] not in KEPT and (still := compare(module, words, without, of_simtbx(folder, words, without))):
            steps, wrong = without, still
    return steps, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_python")
    parser.add_argument("--simtbx", metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--shapes", nargs="+", default=["Round", "Gauss", "Gauss_argchk", "Tophat"], help="cctbx_project has Gauss_star, too")
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args()
    sys.path.insert(0, options.build_python)
    try:
        from nanobragg.cctbx import nanobragg_ext as ours
    except ImportError as error:
        print(f"skipped: {sys.executable} cannot load the bindings, which are built for another Python: {error}")
        return 0
    warnings.simplefilter("ignore")
    if options.simtbx:
        print(f"first seed {options.seed}", flush=True)
        trials = new_ones(options.simtbx, options.seed, options.count, options.shapes)
    else:
        with open(os.path.join(HERE, "calls.json")) as file:
            trials = [(trial["seed"], trial["words"], trial["steps"], list(of_record(trial["simtbx"]))) for trial in json.load(file)]
    failed, number, ended, kept = 0, 0, 0, []
    for seed, words, steps, theirs in trials:
        number += 1
        ended += len(theirs) <= len(steps)
        wrong = compare(ours, words, steps, theirs)
        if wrong:
            failed += 1
            if options.simtbx:
                steps, wrong = fewer(ours, options.simtbx, words, steps, wrong)
            print(f"FAILED with --seed {seed} --count 1: {wrong}\n  {words}\n  {steps}", flush=True)
        if options.record:
            kept.append({"seed": seed, "words": words, "steps": steps, "simtbx": to_record(steps, theirs)})
    if options.record:
        with open(options.record, "w") as file:
            file.write("[" + ",\n".join(json.dumps(trial) for trial in kept) + "]\n")
    print(f"{number} sequences, {failed} failed; simtbx ended early in {ended}")
    return 1 if failed or not number else 0


def new_ones(folder, seed, count, shapes):
    for number in range(seed, seed + count):
        words, steps = sequence(random.Random(number), shapes)
        yield number, words, steps, of_simtbx(folder, words, steps)


if __name__ == "__main__":
    sys.exit(main())
