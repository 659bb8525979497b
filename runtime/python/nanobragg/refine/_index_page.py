"""The page of indexed images."""

import os

import numpy

from . import _report
from ._crystal import CELL
from ._explain import STRONG
from ._still import boxes_of, with_pixels
from ._still_page import still_page
from ._still_search import DARK
from ._still_table import lattice_rows
from ._verdict import verdict

_SHOWN = 50  # images that the report shows
# Columns of the report.
_SHOWN_COLUMNS = ["shot", "image", "verdict", "spots", "indexed", "lattices", "chi2", "chi2_profiles", "chi2_background", "rms_px",
                  "distance_mm", *CELL, "mosaicity_deg", "sets", "seconds", "reason"]


def page(stills, table, merged, kept):
    good = [still for still in stills if still.status == "indexed"]
    reason, why = (table[0].index(name) for name in ("reason", "why"))
    table = [table[0], *([row[0], os.path.basename(row[1]), *row[2:reason], row[reason] or row[why], *row[reason + 1:]] for row in table[1:])]
    shown = [table[0].index(name) for name in _SHOWN_COLUMNS]
    parts = [_report.element("h1", f"{len(good)} of {len(stills)} images indexed"), _report.headed([[row[i] for i in shown] for row in table]),
             _report.element("p", "shots.csv has further columns."), *merged]
    shown = sorted(good, key=lambda still: still.explained.chi2 if still.explained else 0, reverse=True)[:_SHOWN]
    if len(shown) < len(good):
        parts.append(_report.element("p", f"Shown are the {_SHOWN} images of largest chi-square."))
    for still in sorted(shown, key=lambda still: still.index):
        parts.append(_report.element("h2", os.path.basename(still.image)))
        parts.append(_report.element("p", ": ".join(filter(None, verdict(still)))))
        if len(still.lattices) > 1:
            parts.append(_report.headed([row[2:] for row in lattice_rows([still])]))
        parts.append(_off_by_radius(still))
        if still.explained:
            still = with_pixels(still, kept)
            parts += still_page(still, boxes_of(still), DARK**2)
    return parts


def _off_by_radius(still):
    use = (still.of >= 0) & (still.found.light > STRONG)
    spots, away = (still.fitted.detector.across(at) for at in (still.found.at[use], (still.found.at + still.of_spots("off"))[use]))
    off, radius = away - spots, numpy.linalg.norm(away, axis=1)
    along = away / radius[:, None]
    radial = (off * along).sum(axis=1)
    tangential = off[:, 1] * along[:, 0] - off[:, 0] * along[:, 1]
    return _report.table(["pixels from the centre", "spots", "radial", "rms", "tangential", "rms"],
                         [(f"{radius[part].mean():.0f}", len(part), f"{radial[part].mean():.3f}", f"{radial[part].std():.3f}",
                           f"{tangential[part].mean():.3f}", f"{tangential[part].std():.3f}")
                          for part in numpy.array_split(numpy.argsort(radius), 8) if len(part)])
