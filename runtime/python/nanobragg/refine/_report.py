"""The results of all shots: a table, and a page to look at."""

import base64
import csv
import html
import io

import numpy

from .._errors import printable
from ..plot import grey_png
from ._files import write_file

_HEAD = ["shot", "status", "a", "b", "c", "alpha", "beta", "gamma", "sigma_a", "sigma_b", "sigma_c", "rotation_deg",
         "orientation_sigma_deg", "scale", "scale_sigma", "chi2", "log_likelihood", "spots", "pixels", "evaluations",
         "seconds", "why"]


def rows(results):
    """A row for each shot, the first with names. Lengths in A, angles in degrees."""
    names = sorted({name for r in results for name in r.values})
    yield [*_HEAD[:-1], *(word for name in names for word in (name, f"sigma_{name}")), _HEAD[-1]]
    for r in results:
        if r.matrix is None:
            yield [r.index, r.status, *[""] * (len(_HEAD) - 4 + 2 * len(names)), f"{r.seconds:.3f}", r.why]
            continue
        values = [v for name in names for v in r.values.get(name, ("", ""))]
        yield [r.index, r.status, *(f"{v:.6f}" for v in r.cell), *(f"{v:.2g}" for v in r.cell_sigma[:3]),
               f"{r.rotation:.5f}", f"{r.orientation_sigma.max():.2g}", f"{r.scale:.6g}", f"{r.scale_sigma:.2g}",
               f"{r.chi2:.4g}", f"{r.log_likelihood:.8g}", len(r.spots["hkl"]), r.pixels, r.evaluations,
               f"{r.seconds:.3f}", *values, r.why]


def _picture(image, low, high, zoom=8):
    """White at low and below, black from high on; what is not finite is in between."""
    levels = numpy.nan_to_num(numpy.clip((image - low) / max(high - low, 1e-12), 0, 1), nan=0.5)
    return ('<img src="data:image/png;base64,'
            + base64.b64encode(grey_png(numpy.kron(levels, numpy.ones((zoom, zoom))))).decode() + '"/>')


def pictures_of(data, model):
    """Data and model on one scale of square roots, and what is left between -5 (white) and 5
    (black) sigmas of the photons."""
    low = numpy.nanmin(data)
    root = lambda image: numpy.sqrt(numpy.maximum(image - low, 0))
    high = numpy.nanmax(root(data))
    left = (data - model) / numpy.sqrt(numpy.maximum(model, 1))
    return _picture(root(data), 0, high) + _picture(root(model), 0, high) + _picture(left, -5, 5)


def _outliers(good, count=20):
    """The spots that are explained worst."""
    rows = [(chi2, r.index, i) for r in good for i, chi2 in enumerate(r.spots["chi2"])]
    shots = {r.index: r.spots for r in good}
    for chi2, shot, i in sorted(rows, reverse=True)[:count]:
        spots = shots[shot]
        fast, slow = spots["predicted"][i]
        yield [shot, *(int(h) for h in spots["hkl"][i]), spots["panel"][i], f"{fast:.1f}", f"{slow:.1f}",
               f"{spots['resolution'][i]:.3f}", f"{chi2:.4g}", f"{spots['data'][i]:.5g}", f"{spots['model'][i]:.5g}"]


def curve(points, width=640, height=180, label=""):
    """Points (x, y) as an SVG: y from 0 up."""
    if len(points) == 0:
        return ""
    points = numpy.asarray(points, dtype=float)
    low, high = points[:, 0].min(), points[:, 0].max()
    top = max(points[:, 1].max(), 1e-12)
    x = 50 + (points[:, 0] - low) / max(high - low, 1e-12) * (width - 70)
    y = height - 30 - points[:, 1] / top * (height - 50)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in zip(x, y))
    return (f'<svg width="{width}" height="{height}"><rect x="50" y="20" width="{width - 70}" height="{height - 50}" '
            f'fill="none" stroke="#999"/>{dots}<text x="50" y="14">{html.escape(label)}</text>'
            f'<text x="4" y="28">{top:.3g}</text><text x="30" y="{height - 30}">0</text>'
            f'<text x="50" y="{height - 12}">{low:.4g}</text>'
            f'<text x="{width - 20}" y="{height - 12}" text-anchor="end">{high:.4g}</text></svg>')


def _binned(x, y, bins=20):
    """Means of y over bins of x with as many numbers each: (mean x, mean y, count)."""
    order = numpy.argsort(x)
    return [(float(numpy.mean(x[part])), float(numpy.mean(y[part])), len(part))
            for part in numpy.array_split(order, min(bins, max(len(order), 1))) if len(part)]


def element(tag, text):
    """A text as an element of HTML."""
    return f"<{tag}>{html.escape(printable(text))}</{tag}>"


def table(head, lines):
    cells = lambda tag, words: "".join(element(tag, word) for word in words)
    return ("<div class=wide><table><tr>" + cells("th", head) + "</tr>"
            + "".join(f"<tr>{cells('td', line)}</tr>" for line in lines) + "</table></div>")


# Heads of columns of tables, by their names, and units by how other names end.
_HEADS = {**{axis: f"{axis} (Å)" for axis in "abc"}, **{angle: f"{angle} (degrees)" for angle in ("alpha", "beta", "gamma")}, "B": "B (Å²)",
          "rms_px_all": "rms all (pixels)", "chi2": "chi-square (per pixel)", "chi2_profiles": "chi-square (per pixel, free intensities)",
          "chi2_background": "chi-square (per pixel, background)", "completeness": "completeness (part)",
          "scale": "scale (times that of nb-sim)", "seconds": "time (s)"}
_ENDS = {"_mm": "mm", "_deg": "degrees", "_px": "pixels", "_A": "Å", "_sigmas": "sigmas"}


def headed(rows):
    """Rows of named columns as HTML, with names in words and with units."""
    def words(name):
        end = next((end for end in _ENDS if name.endswith(end)), "")
        return name.removesuffix(end).replace("_", " ") + (f" ({_ENDS[end]})" if end else "")

    head, *lines = rows
    return table([_HEADS.get(name) or words(name) for name in head], lines)


def numbers(rows, misfit):
    """Name, value, sigma and unit of the numbers of a fit as HTML. misfit: chi-square per pixel, by
    which sigmas are enlarged."""
    lines = [(name, f"{value:.5g}", f"{sigma:.2g}" if sigma else "held", unit) for name, value, sigma, unit in rows]
    return "<h3>Parameters of the fit</h3>" + table(["number", "value", f"sigma (of photons, times {misfit**0.5:.3g})", "unit"], lines)


def places(size, layers, width=700):
    """Points on a detector as an SVG. size: slow and fast pixels. layers: (points (n, 2), fast and
    slow pixels; radius; colour; words) of each."""
    scale = width / size[1]
    drawn, words = [], []
    for points, radius, colour, word in layers:
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in scale * numpy.asarray(points))
        drawn.append(f'<path d="{dots}" stroke="{colour}" stroke-width="{2 * radius}" stroke-linecap="round" fill="none"/>')
        words.append(f'<span style="color:{colour}">●</span> {html.escape(word)} ({len(points)})')
    return (f'<p>{", ".join(words)}</p><svg width="{width}" height="{scale * size[0]:.0f}"><rect width="100%" height="100%" fill="none" '
            f'stroke="#999"/>{"".join(drawn)}</svg>')


def _progress(histories):
    """(evaluation, median of what is left), of shots as long as they were refined and then of where
    they ended."""
    longest = max(len(h) for h in histories)
    padded = [numpy.append(h, [h[-1]] * (longest - len(h))) for h in histories if h]
    return list(enumerate(numpy.median(padded, axis=0)))


def _spots(good):
    return {name: numpy.concatenate([r.spots[name] for r in good])
            for name in ("resolution", "chi2", "panel", "predicted", "observed")}


def write(path, results, title=None, before=()):
    """The page. It needs no other file and no network. before: HTML of other parts."""
    good = [r for r in results if r.status == "refined"]
    parts = [element("h1", title or f"{len(good)} of {len(results)} shots refined"), *before]
    if good:
        spots = _spots(good)
        by_resolution = _binned(1 / spots["resolution"]**2, spots["chi2"])
        off = numpy.linalg.norm(spots["predicted"] - spots["observed"], axis=1)
        parts += ["<h2>By resolution</h2>", curve([(x, y) for x, y, _ in by_resolution], label="chi-square per pixel; "
                                                   "1/d² (1/Å²)"),
                  table(["d (Å)", "chi-square", "spots"], [(f"{x**-0.5:.3f}", f"{y:.4g}", n) for x, y, n in by_resolution]),
                  "<h2>By panel</h2>",
                  table(["panel", "spots", "chi-square", "predicted to observed (pixels, mean)"],
                         [(p, int((spots["panel"] == p).sum()), f"{spots['chi2'][spots['panel'] == p].mean():.4g}",
                           f"{off[spots['panel'] == p].mean():.3f}") for p in numpy.unique(spots["panel"])]),
                  "<h2>By shot</h2>", curve([(r.index, r.chi2) for r in good], label="chi-square per pixel; shot")]
    if any(r.history for r in good):
        parts += ["<h2>Convergence</h2>", curve(_progress([r.history for r in good]),
                                                label="chi-square per pixel, median of the shots; evaluation of the fit")]
    head, *lines = rows(results)
    parts += ["<h2>All shots</h2>", table(head, lines)]
    rejected = [r for r in results if r.status != "refined"]
    if rejected:
        parts += ["<h2>Rejected</h2>", table(["shot", "why"], [(r.index, r.why) for r in rejected])]
    if good:
        parts += ["<h2>Outliers</h2><p>The spots that the model explains worst: predicted position (pixels), photons "
                  "above the background in data and model.</p>",
                  table(["shot", "h", "k", "l", "panel", "fast", "slow", "d (Å)", "chi-square", "data", "model"],
                        _outliers(good))]
    worst = sorted(good, key=lambda r: -r.chi2)[:5] + sorted(good, key=lambda r: r.chi2)[:5]
    shown = {r.index: r for r in worst}.values()
    if shown:
        parts.append("<h2>Data, model and residual</h2><p>The brightest spots of the worst and the best shots. "
                     "Residuals range from -5 sigmas of the photons (white) over 0 (grey) to 5 (black).</p>")
    for r in shown:
        parts.append(f"<h3>Shot {r.index}, chi-square {r.chi2:.4g}</h3><div>")
        for hkl, data, model in r.pictures:
            parts.append("<figure>" + pictures_of(data, model)
                         + f"<figcaption>{hkl[0]} {hkl[1]} {hkl[2]}</figcaption></figure>")
        parts.append("</div>")
    write_page(path, "Refined shots", parts)


def write_page(path, title, parts):
    style = ("body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:2px 8px;text-align:right;white-space:nowrap;"
             "border-bottom:1px solid #ddd}.wide{overflow-x:auto}figure{display:inline-block;margin:4px}figure img{margin:1px;max-width:120px}"
             "circle{fill:#1f5fa8}svg text{font-size:11px}")
    page = (f'<!DOCTYPE html><html><head><meta charset="utf-8">{element("title", title)}<style>{style}</style>'
            f"</head><body>{''.join(parts)}</body></html>")
    write_file(path, page.encode())


def write_table(path, lines):
    """Lines of words as .csv. A text that a spreadsheet would take for a formula gets an
    apostrophe."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_cell(word) for word in line] for line in lines)
    write_file(path, text.getvalue().encode(errors="backslashreplace"))


def _cell(word):
    if not isinstance(word, str) or not word.startswith(("=", "+", "-", "@", "\t", "\r")):
        return word
    try:
        float(word)
        return word
    except ValueError:
        return "'" + word
