"""Structure factors by the asymmetric unit: scales, gradients and restraints of diffBragg."""

import numpy
from cctbx import uctbx
from cctbx.array_family import flex


class AsymmetricUnit:
    """Numbers of the reflections of a box of Miller indices, those of equivalents the same, counted
    in the order of the box."""

    def __init__(self, grid, lowest, hall, change_of_basis, cell):
        from cctbx import miller, sgtbx  # here, since loading them takes longer than a small image

        inverse = numpy.linalg.inv(change_of_basis)
        self.grid = grid
        hkl = numpy.indices(grid.shape).reshape(3, -1).T + lowest
        setting = flex.miller_index([tuple(int(x) for x in row) for row in numpy.trunc(hkl @ inverse.T + 1e-9 * numpy.sign(hkl @ inverse.T))])
        space_group = sgtbx.space_group(hall)
        unique = setting.deep_copy()
        miller.map_to_asu(space_group.type(), True, unique)
        keys, first, of = numpy.unique(numpy.array(unique), axis=0, return_index=True, return_inverse=True)
        order = numpy.argsort(first)
        number = numpy.empty(len(keys), dtype=int)
        number[order] = numpy.arange(len(keys))
        self.of = number[of.reshape(-1)].reshape(grid.shape)
        self.keys, first = keys[order], first[order]
        self.size = len(keys)
        self.F = grid.reshape(-1)[first]
        with numpy.errstate(divide="ignore"):
            self.d = 1 / numpy.sqrt(uctbx.unit_cell(cell).d_star_sq(setting).as_numpy_array()[first])

    def shells(self, edges):
        """The shell of each reflection between ascending edges; 0 and len(edges) are outside."""
        return numpy.searchsorted(edges, self.d, side="left")

    def means(self, edges, scales, geometric):
        """Mean intensities of the shells, with that of what is below first, and how many there are.
        """
        shell, n = self.shells(edges), len(edges)
        use = (self.F != 0) & (shell > 0) & (shell < n)
        intensity = (scales * self.F**2)[use]
        if geometric:
            intensity = numpy.log(intensity)
        count = numpy.bincount(shell[use], minlength=n).astype(float)
        mean = numpy.bincount(shell[use], intensity, minlength=n)[:n]
        there = count > 0
        mean[there] /= count[there]
        if geometric:
            mean[there] = numpy.exp(mean[there])
        return mean, count

    def restrain_means(self, edges, scales, beta, geometric):
        """Shells keep their mean intensities: value and gradient with respect to scales."""
        now, count = self.means(edges, scales, geometric)
        start, _ = self.means(edges, numpy.ones(self.size), geometric)
        shell = self.shells(edges)
        use = (shell > 0) & (shell < len(edges))
        use[use] = count[shell[use]] > 0
        at, gradient = shell[use], numpy.zeros(self.size)
        change = now - start
        by = now[at] / scales[use] * (self.F[use] != 0) if geometric else self.F[use]**2
        gradient[use] = change[at] / beta * by / count[at]
        return 0.5 * numpy.sum(numpy.log(2 * numpy.pi * beta) + change**2 / beta), gradient

    def restrain_start(self, edges, scales, beta):
        """Intensities stay where they started, in units of the mean of their shell."""
        mean, count = self.means(edges, scales, False)
        shell = self.shells(edges)
        use = (shell > 0) & (shell < len(edges))
        use[use] = count[shell[use]] > 0
        at, start, gradient = shell[use], self.F[use]**2, numpy.zeros(self.size)
        change = (scales[use] - 1) * start / mean[at]
        # The mean follows the scales, too.
        through_mean = numpy.bincount(at, change**2, minlength=len(count)) / (mean * count + (count == 0))
        gradient[use] = (change * start / mean[at] - through_mean[at] * start) / beta
        return numpy.sum(change**2) / (2 * beta), gradient

    def restrain_friedel(self, plus, minus, scales, beta):
        """Mates keep equal intensities, in units of their sum."""
        intensity = scales * self.F**2
        total = intensity[plus] + intensity[minus]
        use = total != 0
        plus, minus, total = plus[use], minus[use], total[use]
        part = (intensity[plus] - intensity[minus]) / total
        gradient = numpy.zeros(self.size)
        numpy.add.at(gradient, plus, part / (4 * beta) * (1 - part) * self.F[plus]**2 / total)
        numpy.add.at(gradient, minus, -part / (4 * beta) * (1 + part) * self.F[minus]**2 / total)
        return 0.5 * numpy.sum(part**2 / (4 * beta) + numpy.log(2 * numpy.pi * beta)), gradient
