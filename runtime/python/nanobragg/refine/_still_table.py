"""Rows of tables about stills and their lattices."""

import numpy

from ._crystal import CELL, cell_of
from ._still import matrix_of
from ._verdict import verdict


def in_words(explained):
    """Numbers of a still that was explained, and of its first lattice, with the units people use.
    """
    values = explained.values
    for name, key, unit in (("divergence_h_mrad", "hdiv_sigma", 1e3), ("divergence_v_mrad", "vdiv_sigma", 1e3),
                            ("bandwidth_percent", "bandwidth_sigma", 100.0), *((f"cells_{axis}", f"ncells_{axis}", 1.0) for axis in "abcdef" if f"ncells_{axis}" in values)):
        yield name, values[key] * unit
    if "psf_fwhm" in values:
        yield "psf_um", values["psf_fwhm"] * 1e6
    yield "dead_time_ns", values["dead_time"] * 1e9
    yield from _words_of(explained.lattices[0])


def _words_of(lattice):
    yield "sets", lattice.sets
    yield "mosaicity_deg", lattice.mosaicity
    yield "scale", lattice.scale
    yield "B", lattice.B


_COLUMNS = ["shot", "image", "status", "verdict", "spots", "indexed", "lattices", "indexed_each", "choice_sigmas", "alike_sigmas", "chi2", "chi2_model", "chi2_profiles", "profile_error", "unseen", "chi2_unseen", "unseen_light", "rms_px", "rms_px_all", "distance_mm", "beam_fast_px",
            "beam_slow_px", "tilt_x_deg", "tilt_y_deg", "distortion_px", *CELL, "turned_deg", "turned_sigma_deg", "missing_deg",
            "sets", "divergence_h_mrad", "divergence_v_mrad", "bandwidth_percent", "cells_a", "cells_b", "cells_c", "cells_d", "cells_e", "cells_f", "mosaicity_deg", "scale", "B", "psf_um", "dead_time_ns",
            "chi2_background", "chi2_smooth", "chi2_rings", "chi2_haloes", "gain", "gain_sigma", "gain_pixel", "zero", "calibration", "gaps", "overloads", "hot", "dead", "shadow", "seconds", "reason", "why"]


def rows(stills):
    """A row for each still, the first with names."""
    yield _COLUMNS
    for s in stills:
        row = {"shot": s.index, "image": s.image, "status": s.status, "spots": s.spots, "indexed": s.indexed,
               "chi2_background": f"{s.chi2_background:.4f}", "seconds": f"{s.seconds:.3f}", "why": s.why, **s.masked}
        row |= {f"chi2_{name}": f"{value:.4f}" for name, value in s.chi2_parts.items()}
        row["verdict"], row["reason"] = verdict(s)
        if s.margins:
            row["choice_sigmas"] = f"{s.margins[0]:.2f}"
        if numpy.isfinite(s.alike):
            row["alike_sigmas"] = f"{s.alike:.2f}"
        if s.header:
            whole = s.header.gain / s.header.spread
            row |= {"gain": f"{whole:.4g}", "gain_sigma": f"{s.header.gain_sigma * whole:.2g}", "gain_pixel": f"{s.header.gain:.4g}", "zero": f"{s.header.zero:.4g}",
                    "calibration": f"{s.calibration:.4g}"}
        if s.status == "indexed":
            detector, missing = s.fitted.detector, s.of_spots("missing")[s.of >= 0]
            row |= {"rms_px": f"{s.rms_px:.3f}", "rms_px_all": f"{s.rms_px_all:.3f}", "distance_mm": f"{s.distance_mm:.3f}",
                    "beam_fast_px": f"{detector.centre[0]:.3f}", "beam_slow_px": f"{detector.centre[1]:.3f}",
                    "missing_deg": f"{numpy.degrees(numpy.sqrt(numpy.mean(missing**2))):.4f}"}
            if detector.modules.distortion:
                row["distortion_px"] = f"{numpy.sqrt((detector.modules.distortion.off(s.found.at[s.of >= 0])**2).sum(axis=1).mean()):.3f}"
            if s.turn:
                row |= {"turned_deg": f"{s.turn.angle:.5f}", "turned_sigma_deg": f"{s.turn.sigma:.5f}"}
            row |= {"lattices": len(s.lattices), "indexed_each": " ".join(str(one.indexed.sum()) for one in s.lattices)}
            row |= {name: f"{numpy.degrees(v):.4f}" for name, v in zip(("tilt_x_deg", "tilt_y_deg"), detector.tilts)}
            row |= {name: f"{v:.4f}" for name, v in zip(CELL, cell_of(matrix_of(s, 0)))}
        if s.explained:
            row |= {"chi2": f"{s.explained.chi2:.4g}", "chi2_profiles": f"{s.explained.chi2_profiles:.4g}",
                    "chi2_model": f"{s.chi2_model if numpy.isfinite(s.chi2_model) else s.explained.chi2:.4g}"}
            row |= {"unseen": s.explained.unseen, "chi2_unseen": f"{s.explained.chi2_unseen:.4g}", "unseen_light": f"{s.explained.unseen_light:.4f}",
                    "profile_error": f"{s.explained.profile_error:.4f}"}
            row |= {name: f"{value:.6g}" for name, value in in_words(s.explained)}
            row["gain"] = f"{whole * s.explained.values['gain']:.4g}"
        yield [row.get(name, "") for name in _COLUMNS]


_OF_LATTICE = ["experiment", "shot", "lattice", "spots", "choice_sigmas", "rms_px_all", "chi2", *CELL, "sets", "mosaicity_deg", "scale", "B"]


def lattice_rows(stills):
    """A row for each lattice, as for each experiment of indexed.expt, the first with names."""
    yield _OF_LATTICE
    every = ((still, k) for still in stills if still.status == "indexed" for k in range(len(still.lattices)))
    for number, (still, k) in enumerate(every):
        fitted = still.lattices[k]
        row = {"experiment": number, "shot": still.index, "lattice": k, "spots": int(fitted.indexed.sum()),
               "rms_px_all": f"{fitted.rms(fitted.indexed):.3f}"}
        if still.margins:
            row["choice_sigmas"] = f"{still.margins[k]:.2f}"
        row |= {name: f"{v:.4f}" for name, v in zip(CELL, cell_of(matrix_of(still, k)))}
        if still.explained:
            row |= {"chi2": f"{still.explained.chi2_of[k]:.4g}"}
            row |= {name: f"{value:.6g}" for name, value in _words_of(still.explained.lattices[k])}
        yield [row.get(name, "") for name in _OF_LATTICE]
