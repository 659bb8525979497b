"""A few numbers that all shots share: groups of panels, a spectrum, the mosaicity."""

import numpy

from ._crystal import rotation
from ._positions import placed


class Factors:
    """Parameters times exp(p): one factor for all members of a name, or one for each source of the
    spectrum."""

    def __init__(self, sim, name):
        self.name, self.each = name, name == "spectrum"
        self.members = ["source_weight"] if self.each else sim._members(name)
        self.start = {m: numpy.asarray(sim[m], dtype=float) for m in self.members}
        self.size = self.start["source_weight"].size if self.each else 1
        self.labels = [f"{name} {i}" for i in range(self.size)] if self.each else [name]

    def values(self, p):
        return {m: start * (numpy.exp(p) if self.each else numpy.exp(p[0])) for m, start in self.start.items()}

    def directions(self, p, panels=None):
        """How the parameters change with each number, None where no listed pixel changes."""
        values = self.values(p)
        if self.each:
            return [{"source_weight": row} for row in numpy.diag(values["source_weight"])]
        return [values]

    def gradient(self, p, by):
        values = self.values(p)
        products = [by[m] * values[m] for m in self.members]
        return products[0] if self.each else numpy.array([sum(float(numpy.sum(v)) for v in products)])


class PanelGroups:
    """Rigid motions of groups of panels: a rotation (rad, about the laboratory's axes through the
    group's middle) and a translation (m) for each, six numbers.

    groups: lists of panels. The detector is that of an experiment list, or another that has no
    rotations by flags.
    """

    name = "panels"

    def __init__(self, sim, groups):
        self.groups = [list(g) for g in groups]
        self.size = 6 * len(self.groups)
        motions = ("rx", "ry", "rz", "x", "y", "z")
        self.labels = [f"panels {g} {what}" for g in range(len(self.groups)) for what in motions]
        places = placed(sim)
        if places is None:
            raise ValueError("panels are refined of detectors that an experiment list describes (--expt), or one with "
                             "-close_distance and without rotations")
        self.origins, self.axes = places
        self.single = "panel_offset" not in sim.parameters
        fast, slow, normal = (sim[n] for n in ("fast_axis", "slow_axis", "normal_axis"))
        self.corner = sim["close_distance"] * normal - sim["beam_center_fast"] * fast - sim["beam_center_slow"] * slow
        count = len(self.origins)
        wrong = [p for g in self.groups for p in g if not 0 <= p < count]
        if wrong:
            raise ValueError(f"there is no panel {wrong[0]}; the detector has {count}, counted from 0")
        if len({p for g in self.groups for p in g}) != sum(map(len, self.groups)):
            raise ValueError("a panel is in two groups, or twice in one")
        slow_pixels, fast_pixels = sim.shape[-2:]
        size = sim["pixel_size"]
        middles = self.origins + size / 2 * (fast_pixels * self.axes[:, 0] + slow_pixels * self.axes[:, 1])
        self._at = None
        self.middles = [middles[g].mean(axis=0) for g in self.groups]

    def _moved(self, g, motion):
        group, middle, turn = self.groups[g], self.middles[g], rotation(motion[:3])
        return (self.origins[group] - middle) @ turn.T + middle + motion[3:], self.axes[group] @ turn.T

    def placed(self, p):
        """Corners (panels, 3), m, and axes fast, slow, normal (panels, 3, 3) in the laboratory."""
        origins, axes = self.origins.copy(), self.axes.copy()
        for g, motion in enumerate(numpy.reshape(p, (-1, 6))):
            origins[self.groups[g]], axes[self.groups[g]] = self._moved(g, motion)
        return origins, axes

    def values(self, p):
        origins, axes = self.placed(p)
        if self.single:
            (corner,), ((fast, slow, normal),) = origins, axes
            return {"fast_axis": fast, "slow_axis": slow, "normal_axis": normal, "close_distance": corner @ normal,
                    "beam_center_fast": -corner @ fast, "beam_center_slow": -corner @ slow}
        return self._named(origins - self.corner, axes)

    @property
    def members(self):
        return list(self.values(numpy.zeros(self.size)))

    def directions(self, p, panels=None):
        """Central differences, which are good to 1e-10 of motions this smooth; None where none of
        ``panels`` moves."""
        if self._at is None or not numpy.array_equal(self._at[0], p):
            self._at = numpy.array(p), [self._direction(p, i) for i in range(self.size)]
        moving = [panels is None or bool(set(group) & set(panels)) for group in self.groups]
        return [d if moving[i // 6] else None for i, d in enumerate(self._at[1])]

    def _direction(self, p, i, step=1e-6):
        if self.single:
            up, down = (self.values(p + sign * step * numpy.eye(self.size)[i]) for sign in (1, -1))
            return {name: (up[name] - down[name]) / (2 * step) for name in up}
        g, motion, along = i // 6, p[6 * (i // 6):6 * (i // 6) + 6], step * numpy.eye(6)[i % 6]
        (up, up_axes), (down, down_axes) = (self._moved(g, motion + sign * along) for sign in (1, -1))
        offset, axes = numpy.zeros_like(self.origins), numpy.zeros_like(self.axes)
        offset[self.groups[g]] = (up - down) / (2 * step)
        axes[self.groups[g]] = (up_axes - down_axes) / (2 * step)
        return self._named(offset, axes)

    @staticmethod
    def _named(offset, axes):
        return {"panel_offset": offset, "panel_fast_axis": axes[:, 0], "panel_slow_axis": axes[:, 1],
                "panel_normal": axes[:, 2]}

    def gradient(self, p, by):
        return numpy.array([sum(float(numpy.sum(by[name] * change)) for name, change in d.items())
                            for d in self.directions(p)])


def groups_of(text, detector):
    """Panel groups: "each" panel its own, "all" one, "hierarchy" the first level of DIALS's, or a
    file of "panel group" lines.

    detector: DIALS's dictionary of it.
    """
    count = len(detector["panels"])
    if text == "each":
        return [[i] for i in range(count)]
    if text == "all":
        return [list(range(count))]
    if text == "hierarchy":
        children = detector.get("hierarchy", {}).get("children")
        if not children:
            raise ValueError("the detector has no hierarchy; group its panels by a file, or give each or all")
        return [_leaves(child) for child in children]
    groups = {}
    try:
        with open(text, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                if len(words) != 2 or not words[0].isdigit():
                    raise ValueError(f"{text}:{number}: is not a panel and its group; write 12 3")
                groups.setdefault(words[1], []).append(int(words[0]))
    except OSError as error:
        raise ValueError(f"{text}: {error.strerror}; panel groups are each, all, hierarchy or such a file") from None
    if not groups:
        raise ValueError(f"{text}: has no panel; write lines of a panel and its group")
    return list(groups.values())


def _leaves(node):
    return [node["panel"]] if "panel" in node else [p for child in node.get("children", []) for p in _leaves(child)]


class Common:
    """Several of them one after another in one vector."""

    def __init__(self, parts, sigmas):
        """sigmas: of each part's numbers about 0."""
        self.parts = parts
        self.labels = [label for part in parts for label in part.labels]
        self.members = [m for part in parts for m in part.members]
        if len(set(self.members)) != len(self.members):
            twice = next(m for m in self.members if self.members.count(m) > 1)
            raise ValueError(f"'{twice}' is refined twice")
        self.size = sum(part.size for part in parts)
        self.sigma = numpy.concatenate([numpy.broadcast_to(s, part.size) for part, s in zip(parts, sigmas)]) \
            if parts else numpy.empty(0)
        ends = numpy.cumsum([part.size for part in parts], dtype=int)
        self.spans = [slice(end - part.size, end) for end, part in zip(ends, parts)]

    def values(self, p):
        parts = zip(self.parts, self.spans)
        return {name: value for part, span in parts for name, value in part.values(p[span]).items()}

    def directions(self, p, panels=None):
        return [d for part, span in zip(self.parts, self.spans) for d in part.directions(p[span], panels)]

    def gradient(self, p, by):
        return numpy.concatenate([part.gradient(p[span], by) for part, span in zip(self.parts, self.spans)]) \
            if self.parts else numpy.empty(0)
