"""All shots together, as a Descent takes them."""

import numpy

from ._term import Point, give_memory_back


class Joint:
    """terms: of each shot of this rank a Term, or None where it was rejected. shared: a Shared.
    restraints: an AmplitudeRestraints, or None. start: shared numbers. own: a row for each shot of
    this rank.

    ``turn`` measures curvatures and weights; from then on numbers are counted from that point, in
    units in which the curvature is about 1: common ones so that each shot's own follow them,
    structure factors one by one.
    """

    def __init__(self, ranks, terms, shared, restraints, start, own):
        self.ranks, self.terms, self.shared, self.restraints = ranks, terms, shared, restraints
        self.start, self.own = start, own

    def curvature(self, projected=False, cautious=False):
        """Weights anew; then metrics of the shots here, and the curvature for p (k, k) and for
        structure factors, and how many shots say something of each structure factor.
        """
        point, k = Point(self.shared, self.start), self.shared.common.size
        metrics = [None] * len(self.terms)

        def each():
            for i, (term, x) in enumerate(zip(self.terms, self.own)):
                if term is None:
                    yield None
                    continue
                give_memory_back()
                term.weigh(x, point, cautious)
                metrics[i] = term.metric(x, point, projected)
                yield numpy.concatenate([metrics[i].common.ravel(), metrics[i].amplitudes, metrics[i].amplitudes > 1])
                metrics[i].amplitudes = None  # as long as all structure factors

        total = self.ranks.sum(each())
        common = total[:k * k].reshape(k, k) + numpy.diag(1 / self.shared.common.sigma**2)
        amplitudes, seen = numpy.split(total[k * k:], 2)
        if self.restraints:
            amplitudes = amplitudes + self.restraints.curvature()
        return metrics, common, amplitudes, seen

    def rescale(self, seen, known):
        """The common scale of seen F and of the shots, of which the pixels say nothing: so that
        half of the known F are greater than at the start. The restraints alone would leave it to
        the logarithms of the weakest ones.
        """
        if not known.any():
            return
        p, factors = self.shared.split(self.start)
        logarithms = self.shared.amplitudes.logarithms(factors)
        change = numpy.median(logarithms[known])
        logarithms[seen] -= change
        self.start = numpy.concatenate([p, self.shared.amplitudes.numbers(logarithms)])
        self.own[:, -1] += 2 * change

    def turn(self, cautious=False):
        self.metrics, common, amplitudes, _ = self.curvature(cautious=cautious)
        largest = numpy.diag(common).max() if len(common) else 1.0
        weakest = 1e-9 * numpy.diag(common) + 1e-15 * largest
        self.root = numpy.linalg.cholesky(common + numpy.diag(weakest))
        weak = max(1e-6 * numpy.median(amplitudes), 1e-30) if len(amplitudes) else 1.0
        self.unit = 1 / numpy.sqrt(numpy.maximum(amplitudes, weak))
        if self.shared.amplitudes:
            self.unit /= self.shared.amplitudes.slopes(self.shared.split(self.start)[1])

    def _change(self, shared):
        """The change of p and of the numbers of structure factors, for shared numbers in the units.
        """
        p, factors = self.shared.split(shared)
        return numpy.linalg.solve(self.root.T, p) if len(p) else p, factors * self.unit

    def _units(self, by_p, by_factors):
        """A gradient in the units."""
        return numpy.concatenate([numpy.linalg.solve(self.root, by_p) if len(by_p) else by_p, by_factors * self.unit])

    def _slopes(self, shared):
        """Derivatives of log structure factors with respect to their numbers."""
        factors = self.shared.split(self.shared_at(shared))[1]
        return self.shared.amplitudes.slopes(factors) if self.shared.amplitudes else factors

    def shared_at(self, shared):
        return self.start + numpy.concatenate(self._change(shared))

    def own_at(self, shared, own):
        """Numbers of the shots here, (shots, n)."""
        change = self._change(shared)[0]
        return numpy.array([x if metric is None else x + numpy.linalg.solve(metric.root.T, u) - metric.follow @ change
                            for x, metric, u in zip(self.own, self.metrics, own)]).reshape(self.own.shape)

    def each(self, shared, own):
        point, slopes = Point(self.shared, self.shared_at(shared)), self._slopes(shared)
        for term, metric, x in zip(self.terms, self.metrics, self.own_at(shared, own)):
            if term is None:
                yield None
                continue
            value, by_own, by_p, by_factors = term.value_and_gradient(x, point)
            yield (value, self._units(by_p - metric.follow.T @ by_own, slopes * by_factors),
                   numpy.linalg.solve(metric.root, by_own))

    def rest(self, shared):
        p, factors = self.shared.split(self.shared_at(shared))
        by_p = p / self.shared.common.sigma**2
        value, by_factors = 0.0, factors
        if self.restraints:
            value, by_factors = self.restraints.at(self.shared.amplitudes.logarithms(factors))
        return value + 0.5 * float(p @ by_p), self._units(by_p, self._slopes(shared) * by_factors)
