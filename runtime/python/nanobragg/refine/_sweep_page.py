"""A rotation sweep in report.html: rocking curves, what is left by frame, and pictures."""

import numpy

from . import _report

_LEVELS = (0.0, 0.05, 0.2, 1.0, 5.0, 30.0, 200.0, numpy.inf)  # photons of the model in a pixel
_LIT = 5.0


def _by_frame(sweep, model):
    """Chi-square per pixel of the reflections above 10 sigmas, frame by frame."""
    boxes, which = sweep.boxes, sweep.own & sweep.columns["bright"][sweep.boxes.box]
    frames, left = boxes.exposure[which], ((boxes.data - model)**2 / model)[which]
    count = numpy.bincount(frames)
    mean = numpy.bincount(frames, weights=left) / numpy.maximum(count, 1)
    shown = numpy.flatnonzero(count)
    return ["<h3>By frame</h3>", _report.curve([(sweep.first + k, mean[k]) for k in shown],
                                               label="chi-square per pixel, variance of the model's photons; frame")]


def _pulls(sweep, model):
    """Where chi-square comes from: pixels by how many photons the model has there."""
    boxes, which = sweep.boxes, sweep.own & sweep.columns["bright"][sweep.boxes.box]
    data, photons = boxes.data[which], model[which]
    pull = (data - photons) / numpy.sqrt(photons)
    lines, most = [], (0.0, "")
    for low, high in zip(_LEVELS, _LEVELS[1:]):
        here = (photons >= low) & (photons < high)
        if here.any():
            most = max(most, ((pull[here]**2 - 1).sum(), f"{low:g} to {high:g}"))
            lines.append((f"{low:g} to {high:g}", int(here.sum()), f"{data[here].mean():.4g}", f"{photons[here].mean():.4g}",
                          f"{pull[here].mean():.2f}", f"{pull[here].std():.2f}", f"{(pull[here]**2).sum() / max(len(pull), 1):.3f}"))
    lit = pull[photons > _LIT]
    limits = [f"<p>Most of chi-square beyond counting noise is in pixels of {most[1]} photons.</p>"] * bool(most[1])
    if len(lit) and (lit**2).mean() > 2:
        limits.append(f"<p>Above {_LIT:g} photons, mean square residuals are {(lit**2).mean():.3g} times those of counting noise. "
                      "Sigmas do not include errors of the model and are too small.</p>")
    return ["<h3>By brightness</h3><p>Pixels of reflections above 10 sigmas. Pulls are residuals divided by the root of the "
            "model's photons; counting noise alone gives 1. The last column is the share of chi-square.</p>",
            _report.table(["photons of the model", "pixels", "data, mean", "model, mean", "pull, mean", "pull, standard deviation",
                           "of chi-square"], lines), *limits]


def _rocking(sweep, model, table, count):
    """Photons above the background on each frame, of data (points with their sigmas) and model
    (line)."""
    boxes, found = sweep.boxes, sweep.columns
    parts = ["<h3>Rocking curves</h3><p>Photons of a reflection on each frame: data (points, with the sigma of their photons) and "
             "model (line).</p>"]
    for i in numpy.argsort(-found["light"])[:count]:
        here = (boxes.box == i) & sweep.own
        frames = boxes.exposure[here]
        if not len(frames):
            continue
        first, size = frames.min(), frames.max() - frames.min() + 1
        sums = lambda values: numpy.bincount(frames - first, weights=values[here], minlength=size)
        data, line = sums(boxes.data - boxes.background), sums(model - boxes.background)
        h, k, l = table["miller_index"][sweep.rows[i]]
        parts.append("<figure>" + _curves(sweep.first + first + numpy.arange(size), data, numpy.sqrt(sums(model)), line)
                     + f"<figcaption>{h} {k} {l}</figcaption></figure>")
    return parts


def _curves(x, data, sigma, line, width=220, height=130):
    low, high = min(0.0, data.min()), max(data.max(), line.max(), 1.0)
    across = 34 + (x - x[0]) / max(x[-1] - x[0], 1) * (width - 44)
    up = lambda y: height - 18 - (y - low) / (high - low) * (height - 30)
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up(line)))
    marks = "".join(f'<line x1="{a:.1f}" x2="{a:.1f}" y1="{up(d - s):.1f}" y2="{up(d + s):.1f}" stroke="#1f5fa8"/>'
                    f'<circle cx="{a:.1f}" cy="{up(d):.1f}" r="2"/>' for a, d, s in zip(across, data, sigma))
    return (f'<svg width="{width}" height="{height}"><polyline points="{path}" fill="none" stroke="#c33"/>{marks}'
            f'<text x="2" y="14">{high:.4g}</text><text x="34" y="{height - 4}">{x[0]}</text>'
            f'<text x="{width - 6}" y="{height - 4}" text-anchor="end">{x[-1]}</text></svg>')


def page(sweep, table, pictures=12):
    """HTML of a Sweep."""
    result, boxes, found = sweep.explained, sweep.boxes, sweep.columns
    parts = [f"<h2>Sweep {sweep.index}</h2>", _report.element("p", ": ".join(filter(None, sweep.verdict)))]
    if sweep.axis_unsure is not None:
        parts.append(f"<p>The goniometer's axis is held at that of the list, since the pixels "
                     f"determine it only to {sweep.axis_unsure:.2g} "
                     "degrees. --restrain axis=SIGMA frees it.</p>")
    if result.degenerate:
        parts.append("<p>The pixels cannot separate these parameters; restrain one of each group (--restrain): "
                     + "; ".join(result.degenerate) + ".</p>")
    parts.append(_report.numbers(result.numbers, result.misfit))
    model = boxes.background + result.light
    parts += [*_by_frame(sweep, model), *_pulls(sweep, model), *_rocking(sweep, model, table, pictures)]
    parts.append("<h3>Brightest reflections</h3><p>Frames from left to right; data, model, and residual from -5 "
                 "sigmas (white) to 5 (black).</p>")
    for i in numpy.argsort(-found["light"])[:pictures]:
        here = boxes.box == i
        rows, frames = boxes.rows[here], boxes.exposure[here]
        low, high = rows.min(axis=0), rows.max(axis=0) + 1
        slow, fast = high - low
        pair = numpy.full((2, slow, fast * (frames.max() - frames.min() + 1)), numpy.nan)
        where = rows[:, 0] - low[0], (frames - frames.min()) * fast + rows[:, 1] - low[1]
        pair[0][where], pair[1][where] = boxes.data[here], model[here]
        h, k, l = table["miller_index"][sweep.rows[i]]
        parts.append("<figure>" + _report.pictures_of(*pair) + f"<figcaption>{h} {k} {l}: {found['light'][i]:.0f} photons, "
                     f"chi-square {found['chi2'][i]:.3g}</figcaption></figure>")
    return parts
