"""The page of white-beam stills: spots by energy and order, and the flux curve."""

import os

import numpy

from . import _report
from ._laue_fit import HC


def _colour(part):
    """From red (0) to violet (1)."""
    return f"hsl({270 * min(max(part, 0.0), 1.0):.0f},80%,42%)"


def _map(still, width=640):
    """Spots where they are: colour by energy, size by light, rings about those with several orders,
    crosses where nothing is indexed."""
    t, (slow, fast) = still.table, still.shape
    scale, (low, high) = width / fast, still.band
    energy, top = HC / t["wavelength"], max(t["photons"].max(), 1e-9)
    parts = [f'<svg width="{width}" height="{slow * scale:.0f}" style="border:1px solid #999">']
    taken = numpy.concatenate([crystal.spot for crystal in still.crystals])
    for x, y in scale * numpy.delete(still.at, taken, axis=0):
        parts.append(f'<path d="M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6" stroke="#aaa"/>')
    for (x, y), e, light, hkl, several in zip(scale * t["at"], energy, t["photons"], t["hkl"], t["several"]):
        size = 2 + 5 * (max(light, 0.0) / top)**0.25
        colour = _colour((e - low) / (high - low))
        title = f"<title>{hkl[0]} {hkl[1]} {hkl[2]}, {e:.2f} keV</title>"
        ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size + 3:.1f}" style="fill:none;stroke:#333"/>' if several else ""
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" style="fill:{colour}">{title}</circle>{ring}')
    return "".join(parts) + "</svg>"


def _by_energy(still, bins=8):
    t = still.table
    energy, away = HC / t["wavelength"], numpy.linalg.norm(t["off"], axis=1)
    order = numpy.argsort(energy)
    lines = []
    for part in numpy.array_split(order, min(bins, len(order))):
        known = part[(t["sigma"][part] > 0) & (t["model"][part] > 0) & (t["photons"][part] > 0)]
        ratio = f"{numpy.median(t['photons'][known] / t['model'][known]):.3g}" if len(known) else ""
        lines.append((f"{energy[part].min():.2f} to {energy[part].max():.2f}", len(part), int(t["several"][part].sum()),
                      f"{numpy.sqrt((away[part]**2).mean()):.3f}", f"{numpy.median(away[part]):.3f}", ratio))
    return _report.table(["energy (keV)", "spots", "of several orders", "off (pixels, rms)", "median", "photons / model (median)"], lines)


def _by_order(still):
    t = still.table
    order, away = numpy.gcd.reduce(t["hkl"], axis=1), numpy.linalg.norm(t["off"], axis=1)
    return _report.table(["order of the brightest reflection", "spots", "off (pixels, rms)"],
                         [(n, int((order == n).sum()), f"{numpy.sqrt((away[order == n]**2).mean()):.3f}") for n in numpy.unique(order)])


def _flux(still, width=640, height=220):
    fit = still.fit
    if not numpy.isfinite(fit.flux_sigma).all():
        return _report.element("p", "No flux curve: the model has no structure factors, flux is fixed, or too few rays stand alone.")
    energy, flux = HC / fit.nodes, fit.flux / fit.flux.max()
    low, high = flux * numpy.exp(-fit.flux_sigma), numpy.minimum(flux * numpy.exp(fit.flux_sigma), 1.5)
    x = lambda e: 50 + (e - energy.min()) / (energy.max() - energy.min()) * (width - 70)
    y = lambda f: height - 30 - f / 1.5 * (height - 50)
    line = lambda values: " ".join(f"{x(e):.1f},{y(f):.1f}" for e, f in values)
    band = line([*zip(energy, high), *zip(energy[::-1], low[::-1])])
    return (f'<svg width="{width}" height="{height}"><rect x="50" y="20" width="{width - 70}" height="{height - 50}" fill="none" stroke="#999"/>'
            f'<polygon points="{band}" fill="#c8d8ee"/><polyline points="{line(zip(energy, flux))}" fill="none" stroke="#1f5fa8" stroke-width="2"/>'
            f'<text x="50" y="14">photons per keV, relative to the highest, and one sigma</text>'
            f'<text x="50" y="{height - 12}">{energy.min():.1f} keV</text>'
            f'<text x="{width - 20}" y="{height - 12}" text-anchor="end">{energy.max():.1f}</text></svg>'
            + _report.element("p", f"Light of single spots scatters about it by {fit.doubt:.0%}. The curve includes what the detector and "
                                   "everything in the beam absorb, and extinction."))


def page(stills, good, table, lattices):
    """Parts of the page. table, lattices: rows of stills and crystals, the first with names."""
    parts = [_report.element("h1", f"{len(good)} of {len(stills)} images indexed"), _report.table(table[0], table[1:]),
             _report.element("h2", "Crystals"), _report.element("p", "Strains are deviatoric, in units of 0.001, in the frame of the crystal "
                                                                     "(x along a, z along c*); lengths assume the volume of the cell that was given."),
             _report.table(lattices[0], lattices[1:])]
    for still in good:
        parts += [_report.element("h2", os.path.basename(still.image)),
                  _report.element("p", ": ".join(filter(None, still.verdict))),
                  _report.element("p", f"{still.indexed} of {len(still.at)} spots indexed, {still.rms_px:.3f} pixels from their reflections (rms). "
                                       f"Colours from {still.band[0]:g} keV (red) to {still.band[1]:g} keV (violet); circles about spots of several "
                                       "orders; crosses where no crystal has a reflection."),
                  _map(still), _by_energy(still), _by_order(still), _report.element("h3", "Flux"), _flux(still)]
    return parts
