"""Scans of an experiment list: their frames, their axis, and the pixels of reflections on all
frames."""

import operator
import os
import re
import warnings

import numpy

from .._errors import DATA_ERRORS, FileError, Warning
from . import _files
from ._background import Background
from ._crystal import rotation
from ._explain import Boxes
from ._shoeboxes import Shoeboxes

_HALF, _ROCKING = 5.0, 0.3  # pixels and degrees, half of a box that no table gives
_MOST_IMAGES = 1000000
_STRONG = 5.0  # sigmas by which a sum over all frames is no background
_INTEGRATED = 1 << 8  # DIALS' flag: integrated by summation


class Scan:
    """A rotation scan: experiment number ``index`` of a list that ``path`` was read from."""

    def __init__(self, listed, index, path):
        self.path, self.index = path, index
        experiment = listed["experiment"][index]
        try:
            scan, imageset, _ = (listed[kind][experiment[kind]] for kind in ("scan", "imageset", "crystal"))
            self.goniometer = listed["goniometer"][experiment["goniometer"]]
            self.first, self.last = (operator.index(number) for number in scan["image_range"])
            if not self.first <= self.last < self.first + _MOST_IMAGES:
                raise FileError(f"{path}: experiment {index} has the image_range {scan['image_range']}; a scan has 1 to {_MOST_IMAGES} images")
            if "oscillation" in scan:
                self.start, self.step = (float(v) for v in scan["oscillation"])
            else:  # where each image starts, and how wide it is where that does not follow
                starts, widths = scan["properties"]["oscillation"], scan["properties"].get("oscillation_width")
                self.start, self.step = float(starts[0]), float(widths[0] if widths else starts[1] - starts[0])
            if not 0 < self.step < numpy.inf:
                raise FileError(f"{path}: experiment {index} turns by {self.step} degrees in an image, and a scan by more than 0; for one that turns "
                                "backwards, change the signs of the axis and of the angles")
            self.panels = listed["detector"][experiment["detector"]]["panels"]
            self.trusted = self.panels[0].get("trusted_range") or (0, numpy.inf)
            times = scan.get("exposure_time") or scan.get("properties", {}).get("exposure_time") or [0.0]
            self.seconds = float(numpy.median(times))  # exposure time; 0: the list does not say
            self._names(imageset)
        except FileError:
            raise
        except DATA_ERRORS:
            raise FileError(f"{path}: experiment {index} lacks a crystal, a goniometer, a scan or its images; index and integrate it") from None
        self.listed_first = self.first

    def only_present(self):
        """The part of the scan from the first frame that is there to the last; what is missing is
        said."""
        there = [k for k, name in enumerate(self.names) if _found(name)]
        if not there:
            raise FileError(f"{self.path}: none of the {len(self)} images of experiment {self.index} is there; put them where the list has them, "
                            f"the first as {self.names[0]}")
        if len(there) < len(self):
            warnings.warn(f"{self.path}: of the {len(self)} images of experiment {self.index} {len(there)} are there; these are "
                          "refined", Warning, stacklevel=2)
        self.names = [name if k in set(there) else None for k, name in enumerate(self.names)][there[0]:there[-1] + 1]
        self.last = self.first + there[-1]
        self.first, self.start = self.first + there[0], self.start + there[0] * self.step
        return self

    @staticmethod
    def of(listed, index):
        """Whether this experiment is one."""
        experiment = listed["experiment"][index]
        number = experiment.get("scan")
        if not isinstance(number, int) or not 0 <= number < len(listed.get("scan", [])) or "goniometer" not in experiment:
            return False
        first, last = listed["scan"][number].get("image_range", (1, 1))
        return last > first

    def __len__(self):
        return self.last - self.first + 1

    def _names(self, imageset):
        folder = os.path.dirname(os.path.abspath(self.path))
        if template := imageset.get("template"):
            if "#" not in template:  # a file of all frames
                self.names = [f"{os.path.join(folder, template)}:{k - 1}" for k in range(self.first, self.last + 1)]
                return
            digits = re.search("#+", template)
            self.names = [os.path.join(folder, template[:digits.start()] + f"{k:0{len(digits[0])}}" + template[digits.end():])
                          for k in range(self.first, self.last + 1)]
            return
        images, frames = imageset["images"], imageset.get("single_file_indices") or [None] * len(imageset["images"])
        names = [os.path.join(folder, name) for name in images]
        self.names = [name if frame is None or name.endswith((".cbf", ".img", ".npy")) else f"{name}:{frame}"
                      for name, frame in zip(names, frames)]
        assert len(self.names) == len(self)

    def frame(self, k):
        """Its image, (panel, slow, fast); compressed files are found, too. None: it is not there.
        """
        if self.names[k] is None:
            return None
        name = _found(self.names[k]) or self.names[k]
        image = _files.in_panels(_files.read_named_image(name), self.panels, name)
        slow, fast = image.shape[-2:]
        if len(self.panels) == 1 and [fast, slow] != list(self.panels[0]["image_size"]):
            raise FileError(f"{name}: has {fast} x {slow} pixels, and its panel in the list {' x '.join(map(str, self.panels[0]['image_size']))}; "
                            "give the image and the list of one experiment")
        return image.reshape((-1, slow, fast))

    def has(self, first, end):
        """Whether all of these frames are there, counted from the first; end is not one of them."""
        there = numpy.cumsum([0, *(name is not None for name in self.names)])
        return numpy.diff(there[numpy.clip([first, end], 0, len(self))], axis=0)[0] == end - first

    def phi(self, k):
        """Where the rotation of a frame begins, rad."""
        return numpy.radians(self.start + k * self.step)

    def _rotations(self):
        """Rotations of the goniometer: the fixed one, which is applied before that of the scan, and
        the setting, after it."""
        fixed, setting = numpy.eye(3), numpy.eye(3)
        if "axes" not in self.goniometer:
            return (numpy.reshape(self.goniometer.get(name, numpy.eye(3)), (3, 3)) for name in ("fixed_rotation", "setting_rotation"))
        moving = self.goniometer["scan_axis"]
        for i, (axis, angle) in enumerate(zip(self.goniometer["axes"], self.goniometer["angles"])):
            turn = rotation(numpy.radians(angle) * numpy.array(axis) / numpy.linalg.norm(axis))
            if i < moving:
                fixed = turn @ fixed
            elif i > moving:
                setting = turn @ setting
        return fixed, setting

    def with_axis(self, axis):
        """The goniometer with another axis of the scan; axis: in the laboratory."""
        _, setting = self._rotations()
        new = (setting.T @ axis / numpy.linalg.norm(axis)).tolist()
        if "axes" not in self.goniometer:
            return self.goniometer | {"rotation_axis": new}
        axes, moving = self.goniometer["axes"], self.goniometer["scan_axis"]
        return self.goniometer | {"axes": [*axes[:moving], new, *axes[moving + 1:]]}

    def start_matrix(self, listed):
        """The crystal's matrix in the laboratory where the scan's axis is at 0. A crystal that
        varies over the scan is that of the middle, which is said."""
        crystal = listed["crystal"][listed["experiment"][self.index]["crystal"]]
        matrix = numpy.linalg.inv([crystal[f"real_space_{name}"] for name in "abc"])
        if points := crystal.get("A_at_scan_points"):
            at = (self.first + self.last) // 2 - self.listed_first
            matrix = numpy.reshape(points[min(at, len(points) - 1)], (3, 3))
            self._say("crystal varies")
        beam = listed["beam"][listed["experiment"][self.index]["beam"]]
        if beam.get("s0_at_scan_points"):
            self._say("beam varies")
        if self.goniometer.get("setting_rotation_at_scan_points"):
            self._say("goniometer's setting varies")
        fixed, setting = self._rotations()
        return setting @ fixed @ matrix

    def _say(self, what):
        warnings.warn(f"{self.path}: the {what} over the scan of experiment {self.index}; it is refined as one that does not",
                      Warning, stacklevel=2)

    def crystal(self, matrix):
        """The crystal's matrix as the list has it, of that in the laboratory where the scan's axis
        is at 0."""
        fixed, setting = self._rotations()
        return (setting @ fixed).T @ matrix


def _found(name):
    """The image's name as it is on the disk, compressed or not; None where it is not there."""
    file, colon, number = name.rpartition(":") if re.search(r":\d+$", name) else (name, "", "")
    return next((file + end + colon + number for end in ("", ".gz", ".bz2") if os.path.exists(file + end)), None)


def with_boxes(table, scan):
    """The table with boxes about where reflections of a scan are predicted, for those that have
    none."""
    empty = (table["id"] == scan.index) & (numpy.diff(table["bbox"])[:, ::2] <= 0).any(axis=1)
    if not empty.any() or "xyzcal.px" not in table:
        return table
    half = numpy.array([_HALF, _HALF, numpy.ceil(_ROCKING / max(abs(scan.step), 1e-3))])
    at = table["xyzcal.px"]
    around = numpy.stack([numpy.floor(at - half), numpy.ceil(at + half)], axis=2).reshape(-1, 6)
    return table | {"bbox": numpy.where(empty[:, None], numpy.nan_to_num(around), table["bbox"]).astype("i4")}


def chosen(table, scan, most):
    """Rows of a reflection table: those of a scan's frames and panels that are integrated, or
    indexed where none is; the brightest whose boxes have ``most`` pixels together."""
    limits = numpy.array([[0, panel["image_size"][0], 0, panel["image_size"][1], scan.first - 1, scan.last] for panel in scan.panels])
    mine = (table["id"] == scan.index) & table["miller_index"].any(axis=1) & (table["panel"] < len(limits))
    limits = limits[numpy.where(mine, table["panel"], 0).astype(int)]
    sides = numpy.minimum(table["bbox"], limits)[:, 1::2] - numpy.maximum(table["bbox"], limits)[:, ::2]
    mine &= (sides > 0).all(axis=1)
    if "flags" in table and (mine & (table["flags"] & _INTEGRATED > 0)).any():
        mine &= table["flags"] & _INTEGRATED > 0
    rows = numpy.flatnonzero(mine)
    light = table["intensity.sum.value"][rows] if "intensity.sum.value" in table else numpy.zeros(len(rows))
    rows = rows[numpy.argsort(-light, kind="stable")]
    return rows[numpy.cumsum(numpy.prod(sides[rows].astype(float), axis=1)) < most]


def of_other_crystals(table, scan, listed):
    """Boxes and panels of reflections of other experiments on a scan's images, frames counted as
    the scan's."""
    images = [experiment.get("imageset") for experiment in listed["experiment"]]
    others = [i for i, number in enumerate(images) if number == images[scan.index] and i != scan.index]
    rows = numpy.isin(table["id"], others) & table["miller_index"].any(axis=1)
    boxes = table["bbox"][rows].astype(int)
    boxes[:, 4:] -= scan.first - 1
    return boxes, table["panel"][rows].astype(int)


def _from(place, shape):
    """How far pixels are from a place (fast, slow)."""
    slow, fast = (numpy.arange(n, dtype="f4") + 0.5 for n in shape)
    return numpy.hypot(fast[None, :] - place[0], slow[:, None] - place[1])


def _background(total, times, place):
    """Photons of each pixel of a panel on a frame. total: over so many frames (times), place: where
    the beam would meet the panel. Light of reflections that have no box stands out of it and is
    left out."""
    mean, radii = total / numpy.maximum(times, 1), _from(place, total.shape)
    whole = times * Background(mean, times > 0, radii).model
    return Background(mean, (times > 0) & (total <= whole + _STRONG * numpy.sqrt(numpy.maximum(whole, 1))), radii).model


def pixels(scan, boxes, panel, margin, places, gain=1.0, offset=0.0, others=None):
    """The Boxes of reflections over all frames of a scan, with the background of each pixel: the
    mean of the frames where no box is, smooth on the detector.

    boxes: (n, 6) fast, slow, frame from, to. margin: by how much they are made larger, pixels and
    frames. places: pixels (fast, slow) where the beam would meet each panel. others: boxes and
    panels whose pixels are left out.
    """
    others = others or (numpy.empty((0, 6), int), ())
    reach = boxes[:, 4:] + [-margin, margin]
    low, high = ((limit - offset) / gain for limit in scan.trusted)
    parts, frames, total, times, levels = [], [], 0, 0, []
    for k in range(len(scan)):
        here = numpy.flatnonzero((reach[:, 0] <= k) & (k < reach[:, 1]))
        image = scan.frame(k)
        if image is None:
            levels.append(0.0)
            continue
        image = (image.astype(float) - offset) / gain
        for panel_image, one in zip(image, scan.panels):
            for fast, slow, fast_end, slow_end in one.get("mask") or ():
                panel_image[slow:slow_end, fast:fast_end] = numpy.nan
        for (f0, f1, s0, s1, first, end), number in zip(*others):
            if first - margin <= k < end + margin:
                image[number, max(s0 - margin, 0):s1 + margin, max(f0 - margin, 0):f1 + margin] = numpy.nan
        on = Shoeboxes(image, boxes[here, :4], panel[here], (max(low, 0), high), margin)
        parts.append((here[on.box], on.rows, on.data))
        frames.append(numpy.full(len(on.box), k))
        outside = (image >= max(low, 0)) & (image <= high)
        outside[tuple(on.rows.T)] = False
        light = numpy.where(outside, image, 0)
        total, times = total + light, times + outside
        levels.append(light.sum() / max(outside.sum(), 1))
    box, rows, data = (numpy.concatenate(part) for part in zip(*parts))
    if not len(data):
        raise ValueError(f"none of the pixels in its boxes has a value from {scan.trusted[0]:g} to {scan.trusted[1]:g}, the trusted_range of its "
                         "detector; correct that in the list")
    frames = numpy.concatenate(frames)
    level = numpy.array([_background(*panel) for panel in zip(total, times, places)])
    usual = numpy.mean(numpy.array(levels)[numpy.unique(frames)])
    background = level[tuple(rows.T)] * (numpy.array(levels) / max(usual, 1e-9))[frames]
    return Boxes(rows[:, 1:], data, numpy.maximum(background, 1e-3), box, len(boxes), panel=rows[:, 0], exposure=frames)
