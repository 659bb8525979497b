"""The stills of an experiment list and a reflection table."""

import shlex

import numpy

from .._errors import FileError
from ..experiment import Expt
from . import _files
from ._crystal import check_system
from ._shoeboxes import check_pixels
from ._shot import simulator_of


class ListedStills:
    """The shots that flags, an experiment list and a reflection table describe, in photons.

    images: a function from the number of a shot to its image; None: those that the experiment list
    names. gain, offset: an image holds photons * gain + offset. system: that of all crystals.
    """

    def __init__(self, flags, experiments, reflections, images=None, gain=1.0, offset=0.0, system="triclinic"):
        check_pixels(gain, offset)
        self.words = shlex.split(flags) if isinstance(flags, str) else [str(w) for w in flags]
        self.path, self.images, self.gain, self.offset, self.system = str(experiments), images, gain, offset, system
        self.listed = _files.read_experiments(experiments)
        self.table = _files.read_reflections(reflections)
        if not len(self):
            raise FileError(f"{experiments}: has no experiments")
        if (most := self.table["id"].max(initial=-1)) >= len(self):
            raise FileError(f"{reflections}: has reflections of experiment {most}, and {experiments} has experiments 0 to "
                            f"{len(self) - 1}; give the two files that belong together")

    def __len__(self):
        return len(self.listed["experiment"])

    def simulator(self, index):
        """The simulator of a shot; Rejected where what is known of it makes none."""
        return simulator_of(self.words, Expt(file=f"{self.path}:{index}"))

    def check(self, index):
        """FileError where an experiment lacks something, or its reflections are those of another
        detector; ValueError where its crystal is of another system."""
        experiment = self.listed["experiment"][index]
        for kind in ("crystal", "detector", "beam"):
            number = experiment.get(kind)
            if not isinstance(number, int) or not 0 <= number < len(self.listed[kind]):
                raise FileError(f"{self.path}: experiment {index} has no {kind}")
        crystal = self.listed["crystal"][experiment["crystal"]]
        check_system(numpy.linalg.inv([crystal[f"real_space_{name}"] for name in "abc"]), self.system, f"experiment {index}")
        panels = len(self.detector(index)["panels"])
        wrong = self.table["panel"][self.rows(index)].astype(int)
        wrong = wrong[(wrong < 0) | (wrong >= panels)]
        if len(wrong):
            raise FileError(f"{self.path}: a reflection of experiment {index} is on panel {wrong[0]}, and its detector has "
                            f"{panels}, counted from 0")

    def detector(self, index):
        """DIALS's dictionary."""
        return self.listed["detector"][self.listed["experiment"][index]["detector"]]

    def image(self, index):
        """Photons. FileError when it cannot be read."""
        if self.images is None:
            name = _files.image_of(self.listed, index, self.path)
            image = _files.read_named_image(name)
        else:
            name, image = f"images({index})", numpy.asarray(self.images(index), dtype=float)
        return (_files.in_panels(image, self.detector(index)["panels"], name) - self.offset) / self.gain

    def trusted(self, index):
        """From and to, photons."""
        trusted = self.detector(index)["panels"][0].get("trusted_range")
        low, high = trusted if trusted else (-numpy.inf, numpy.inf)
        return (low - self.offset) / self.gain, (high - self.offset) / self.gain

    def rows(self, index):
        """Rows of the table: the experiment's reflections; those of index 0 0 0 are not indexed."""
        return numpy.flatnonzero((self.table["id"] == index) & self.table["miller_index"].any(axis=1))

    def reflections(self, index):
        """Miller indices, panels and boxes (fast from, to, slow from, to) of its reflections."""
        mine = self.rows(index)
        return self.table["miller_index"][mine], self.table["panel"][mine].astype(int), self.table["bbox"][mine][:, :4]

    def observed(self, index):
        """Pixels (fast, slow) of the reflections, or None."""
        if "xyzobs.px.value" not in self.table:
            return None
        return self.table["xyzobs.px.value"][self.rows(index)][:, :2]

    def counts(self):
        """Reflections of each shot."""
        identities = self.table["id"]
        return numpy.bincount(identities[(identities >= 0) & (identities < len(self))], minlength=len(self))
