"""L-BFGS over numbers of which each rank has some and all have the others."""

import numpy


class Descent:
    """Limited-memory BFGS, whose two loops need only dot products (Chen, Wang and Zhou, 2014).
    Vectors have a shared part, on all ranks, and a row for each shot, on the rank that has it; of
    the rows the ranks exchange dot products alone. One sum over ranks for each evaluation has the
    value, the shared gradient and those dot products.

    problem.each(shared, own): for each shot of this rank None, or value, gradient with respect to
    the shared numbers, and to the shot's own. problem.rest(shared): value and gradient of what does not
    depend on shots, asked on the first rank. Numbers have units in which the curvature is about 1,
    so that the first step is minus the gradient.
    """

    def __init__(self, ranks, problem, shared, own, memory=8):
        """shared: (n,). own: (shots here, m)."""
        self.ranks, self.problem, self.memory = ranks, problem, memory
        self.shared, self.own = shared, own
        self.steps = self.evaluations = 0
        self.forget()
        nothing, nothing_own = numpy.zeros_like(shared), numpy.zeros_like(own)
        self.value, dots, self.gradient, self.own_gradient = self._evaluate(shared, own, nothing, nothing_own, nothing,
                                                                            nothing_own)
        self.squared = dots[2, -1]

    def forget(self):
        """Begins with a new history of steps."""
        # Steps, then changes of the gradient; dot products among them, and with the gradient.
        self.history, self.own_history = [[], []], [[], []]
        self.gram, self.along = numpy.zeros((0, 0)), numpy.zeros(0)

    def _basis(self, history, *more):
        return [*history[0], *history[1], *more]

    def _evaluate(self, shared, own, step, own_step, gradient, own_gradient):
        """The value, dot products of (step, change of gradient, gradient) with all vectors, and the
        gradient."""
        count = 2 * len(self.history[0]) + 3
        found = numpy.zeros_like(own)

        def terms():
            for i, term in enumerate(self.problem.each(shared, own)):
                if term is None:
                    yield None
                    continue
                value, by_shared, found[i] = term
                vectors = numpy.array(self._basis([[v[i] for v in part] for part in self.own_history], own_step[i],
                                                  found[i] - own_gradient[i], found[i]))
                yield numpy.concatenate([[value], (vectors[-3:] @ vectors.T).ravel(), by_shared])

        def finish(total):
            value, by_shared = self.problem.rest(shared)
            total[0] += value
            total[1 + 3 * count:] += by_shared
            new = total[1 + 3 * count:]
            vectors = self._basis(self.history, step, new - gradient, new)
            total[1:1 + 3 * count] += [v @ w for v in vectors[-3:] for w in vectors]
            return total

        total = self.ranks.sum(terms(), finish)
        self.evaluations += 1
        return total[0], total[1:1 + 3 * count].reshape(3, count), total[1 + 3 * count:], found

    def _direction(self):
        """Factors of the history and of the gradient: minus the inverse of the curvature times the
        gradient."""
        pairs = len(self.history[0])
        gram = numpy.block([[self.gram, self.along[:, None]], [self.along[None], numpy.array([[self.squared]])]])
        factors = numpy.zeros(2 * pairs + 1)
        factors[-1] = -1
        inner = [gram[i, pairs + i] for i in range(pairs)]
        taken = numpy.zeros(pairs)
        for i in reversed(range(pairs)):
            taken[i] = gram[i] @ factors / inner[i]
            factors[pairs + i] -= taken[i]
        if pairs:
            factors *= inner[-1] / gram[2 * pairs - 1, 2 * pairs - 1]
        for i in range(pairs):
            factors[i] += taken[i] - gram[pairs + i] @ factors / inner[i]
        return factors, gram[-1] @ factors

    def step(self):
        """One step; False when no step along the direction makes the value less."""
        for _ in range(2):
            factors, slope = self._direction()
            if slope < 0 and self._along(factors, slope):
                self.steps += 1
                return True
            if not self.history[0]:
                return False
            self.forget()
        return False

    def _along(self, factors, slope):
        shared = sum(f * v for f, v in zip(factors, self._basis(self.history, self.gradient)))
        own = sum(f * v for f, v in zip(factors, self._basis(self.own_history, self.own_gradient)))
        length = 1.0
        for _ in range(12):
            step, own_step = length * shared, length * own
            value, dots, gradient, own_gradient = self._evaluate(
                self.shared + step, self.own + own_step, step, own_step, self.gradient, self.own_gradient)
            if value <= self.value + 1e-4 * length * slope:
                self._remember(step, own_step, gradient, own_gradient, dots)
                self.shared, self.own = self.shared + step, self.own + own_step
                self.value, self.gradient, self.own_gradient = value, gradient, own_gradient
                return True
            bend = value - self.value - length * slope
            length *= min(max(-length * slope / (2 * bend), 0.1), 0.5) if numpy.isfinite(bend) and bend > 0 else 0.1
        return False

    def _remember(self, step, own_step, gradient, own_gradient, dots):
        """dots: (step, change, gradient) with (steps, changes, step, change, gradient)."""
        pairs = len(self.history[0])
        self.squared = dots[2, -1]
        self.along = dots[2, :2 * pairs]
        if dots[0, -2] <= 1e-10 * numpy.sqrt(dots[0, -3] * dots[1, -2]):
            return  # no curvature along the step
        full = numpy.zeros((2 * pairs + 2, 2 * pairs + 2))
        full[:2 * pairs, :2 * pairs] = self.gram
        full[-2:], full[:, -2:] = dots[:2, :-1], dots[:2, :-1].T
        order = [*range(pairs), 2 * pairs, *range(pairs, 2 * pairs), 2 * pairs + 1]
        along = numpy.append(self.along, dots[2, -3:-1])[order]
        full = full[numpy.ix_(order, order)]
        for history, made in ((self.history, (step, gradient - self.gradient)),
                              (self.own_history, (own_step, own_gradient - self.own_gradient))):
            for part, vector in zip(history, made):
                part.append(vector)
        if pairs + 1 > self.memory:
            for history in (self.history, self.own_history):
                for part in history:
                    part.pop(0)
            keep = [i for i in range(len(order)) if i not in (0, pairs + 1)]
            full, along = full[numpy.ix_(keep, keep)], along[keep]
        self.gram, self.along = full, along

    def state(self):
        """All of it: arrays that every rank has, and a list of arrays of the shots here."""
        shared = {"shared": self.shared, "gradient": self.gradient, "gram": self.gram, "along": self.along,
                  "numbers": numpy.array([self.value, self.squared, self.steps, self.evaluations]),
                  "history": numpy.array(self._basis(self.history)).reshape(-1, len(self.shared))}
        own = numpy.array(self._basis(self.own_history, self.own, self.own_gradient))
        return shared, list(own.transpose(1, 0, 2))

    @classmethod
    def restored(cls, ranks, problem, shared, own, memory=8):
        """The other way round; own: of the shots of this rank, in their order."""
        self = cls.__new__(cls)
        self.ranks, self.problem, self.memory = ranks, problem, memory
        self.shared, self.gradient, self.gram, self.along = (shared[n] for n in ("shared", "gradient", "gram", "along"))
        self.value, self.squared, steps, evaluations = (float(v) for v in shared["numbers"])
        self.steps, self.evaluations = int(steps), int(evaluations)
        pairs = len(shared["history"]) // 2
        rows = list(numpy.ascontiguousarray(own.transpose(1, 0, 2)))
        self.history = [list(shared["history"][:pairs]), list(shared["history"][pairs:])]
        self.own_history = [rows[:pairs], rows[pairs:2 * pairs]]
        self.own, self.own_gradient = rows[2 * pairs:]
        return self
