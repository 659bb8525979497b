#!/usr/bin/env python3
"""Writes OpCases.inc: what each op yields for some operands, computed with 60 digits (mpmath).

    cases.py > OpCases.inc

Each case names the tolerance in ulps of the largest component of the result."""

from mpmath import mp, mpf, sin, cos, sqrt, exp, pi, atan2, floor, ceil
import mpmath

mp.dps = 60
F, V, M, I, B = "f64", "!nb.vec3<f64>", "!nb.mat3<f64>", "index", "i1"


def exact(x):
    return [exact(e) for e in x] if isinstance(x, (list, tuple)) else mpf(x)


def vec(*x):
    return [mpf(e) for e in x]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def norm(a):
    return sqrt(dot(a, a))


def scaled(a, s):
    return [e * s for e in a]


def unit(a):
    return scaled(a, 1 / norm(a)) if norm(a) else a


def plus(*vectors):
    return [sum(e) for e in zip(*vectors)]


def rows(m):
    return [m[0:3], m[3:6], m[6:9]]


def transpose(m):
    return [m[3 * j + i] for i in range(3) for j in range(3)]


def times(m, v):
    return [dot(r, v) for r in rows(m)]


def multiply(a, b):
    return [dot(r, c) for r in rows(a) for c in rows(transpose(b))]


def rotate(x, n, angle):
    return plus(scaled(n, dot(n, x) * (1 - cos(angle))), scaled(x, cos(angle)),
                scaled(cross(n, x), sin(angle)))


def axis_rotation(n, angle):
    images = [rotate(vec(*e), n, angle) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return transpose(sum(images, []))


def vector_rotation(w):
    angle = sqrt(sum(x * x for x in w))
    return axis_rotation(scaled(w, 1 / angle) if angle else w, angle)


def euler(x, y, z):
    return multiply(axis_rotation(vec(0, 0, 1), z),
                    multiply(axis_rotation(vec(0, 1, 0), y), axis_rotation(vec(1, 0, 0), x)))


def volume(a, b, c, al, be, ga):
    s = (al + be + ga) / 2
    return 2 * a * b * c * sqrt(abs(sin(s) * sin(s - al) * sin(s - be) * sin(s - ga)))


def reciprocal(rule, a, b, c, al, be, ga):
    V = volume(a, b, c, al, be, ga)
    A, Bs, C = b * c * sin(al) / V, a * c * sin(be) / V, a * b * sin(ga) / V
    ca = (cos(be) * cos(ga) - cos(al)) / (sin(be) * sin(ga))
    cb = (cos(al) * cos(ga) - cos(be)) / (sin(al) * sin(ga))
    cg = (cos(al) * cos(be) - cos(ga)) / (sin(al) * sin(be))
    sg = sqrt(1 - cg * cg)
    z = 1 / V / (A * Bs * C * sg) if rule == "right" else V / (a * b * c * sg)
    return transpose([A, 0, 0, Bs * cg, Bs * sg, 0, C * cb, C * (ca - cb * cg) / sg, C * z])


def direct(m, lengths=None):
    a, b, c = rows(transpose(m))
    V = dot(a, cross(b, c))
    found = [scaled(cross(b, c), 1 / V), scaled(cross(c, a), 1 / V), scaled(cross(a, b), 1 / V)]
    if lengths:
        sign = 1 if V > 0 else -1  # along the vector products, whatever the handedness
        found = [scaled(unit(e), length * sign) for e, length in zip(found, lengths)]
    return sum(found, [])


def nearest(h):
    return [ceil(e - mpf(1) / 2) for e in h]


def grating(x, n):
    return abs(sin(pi * n * x) / sin(pi * x)) if sin(pi * x) else n


def lattice(shape, hkl, n, fudge=None, metric=None, widths=None):
    d = [h - h0 for h, h0 in zip(hkl, nearest(hkl))]
    cells = n[0] * n[1] * n[2]
    if shape == "square":
        return grating(d[0], n[0]) * grating(d[1], n[1]) * grating(d[2], n[2])
    r2 = sum((e * m) ** 2 for e, m in zip(d, n))
    if metric:
        q = scaled(times(metric, d), mpf(10) ** -10)
        r2 = dot(q, q) * cells ** 2
    if widths:
        D, E, F_ = widths
        N = [n[0], D, F_, D, n[1], E, F_, E, n[2]]
        v = times(N, d)
        r2 = dot(v, v)
        cells = dot(N[0:3], cross(N[3:6], N[6:9]))
    r2 *= fudge
    if shape == "round":
        x = pi * sqrt(r2)
        return cells * sqrt(pi / 6) * ball(x * x, 0)
    if shape in ("gauss", "gauss_matrix"):
        return cells * exp(-r2 / mpf("0.63"))
    return cells if r2 < mpf("0.63") ** 2 else 0


def sincg(x, n, m, c):
    """d^m/dx^m d^c/dN^c sin(pi N x)/sin(pi x), from the Taylor series of both about x."""
    # Dividing by sin(pi x) loses the digits of x, m + 1 times and more.
    with mp.workdps(100 + (320 * (m + 2) if abs(x) < 1e-50 else 0)):
        orders = range(m + 3)
        above = [(pi * n) ** k * sin(pi * n * x + (k + c) * pi / 2) / mpmath.factorial(k)
                 for k in orders]
        for _ in range(c):
            above = [pi * (x * above[k] + (above[k - 1] if k else 0)) for k in orders]
        below = [pi ** k * sin(pi * x + k * pi / 2) / mpmath.factorial(k) for k in orders]
        if x == 0:
            above, below = above[1:], below[1:]
        quotient = []
        for k in range(m + 1):
            rest = above[k] - sum(quotient[j] * below[k - j] for j in range(k))
            quotient.append(rest / below[0])
        return quotient[m] * mpmath.factorial(m)


def ball(u, k):
    """3 (-1/2)^k j_(k+1)(sqrt u) / sqrt(u)^(k+1), by its power series."""
    with mp.workdps(200):
        n, term, total = k + 1, 3 * mpf(-0.5) ** k, mpf(0)
        term /= mpmath.fac2(2 * n + 1)
        for i in range(1, 400):
            total += term
            term *= -u / 2 / (i * (2 * (n + i) + 1))
        return total


def polarization(K, axis, k, d):
    c2 = dot(k, d) ** 2
    b = unit(cross(axis, k))
    e = unit(cross(k, b))
    y, x = dot(d, b), dot(d, e)
    psi = -atan2(y, x) if x or y else 0
    return (1 + c2 - K * cos(2 * psi) * (1 - c2)) / 2


def capture(d, n, t, dz, depth):
    x = dz / depth / dot(d, n)
    return exp(-t * x) - exp(-(t + 1) * x)


def solid_angle(P, close, size):
    r = norm(P)
    return size ** 2 / r ** 2 * close / r


def flat(x):
    return sum((flat(e) for e in x), []) if isinstance(x, (list, tuple)) else [x]


def number(x):
    x = float(x)
    return {mpmath.inf: "INFINITY", -mpmath.inf: "-INFINITY"}.get(x, repr(x)) if x == x else "NAN"


def case(op, types, result, text, args, expected, ulps=0):
    names = [f"%{chr(97 + i)}" for i in range(len(types))]
    signature = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
    values = ", ".join("{" + ", ".join(number(v) for v in flat([a])) + "}" for a in args)
    wanted = ", ".join(number(v) for v in flat([expected]))
    body = text.replace("$", "%")
    function = f"func.func @f({signature}) -> {result} {{ %r = {body} return %r : {result} }}"
    print(f'{{"{op}",\n "{function}",'
          f"\n {{{values}}}, {{{wanted}}}, {ulps}}},")


def on_scale(op, types, text, args, expected, scale, ulps):
    """A case of a scalar whose tolerance is in ulps of `scale`, since it has zeros."""
    if abs(expected) < scale * mpf(10) ** -30:
        expected = scale * mpf(10) ** -30  # as good as 0, which has no ulps to count
    case(op, types, F, text, args, expected, float(f"{float(ulps * scale / abs(expected)):.3g}"))


def derivatives():
    """Derivatives of the shape functions: at their removable singularities and near, on both sides
    of the interpreter's and the kernels' changes of formula, at zeros and far away."""
    points = [(0.0, 1000.0), (1e-300, 7.0), (1e-12, 1000.0), (-1e-6, 1000.0), (0.3, 1000.0),
              (-0.5, 2.5), (0.5, 5.0), (-0.37, 1.0), (0.49999, 1.5), (0.1, 0.5)]
    for m in range(5):
        for c in range(5 - m):
            switch = float((2 + m // 2) / (7 * pi))
            at = points + [(1 / 7, 7.0), (switch * (1 - 1e-9), 7.0), (switch * (1 + 1e-9), 7.0),
                           (0.5 / 1000 * (1 - 1e-9), 1000.0), (0.5 / 1000 * (1 + 1e-9), 1000.0)]
            for x, n in at:
                largest = max(abs(sincg(i / mpf(17), mpf(n), m, c)) for i in range(9))
                # The terms of what is 0 for N = 1 are not.
                largest = max([largest, mpf(n) ** (m + 1)] + [abs(sincg(i / (8 * mpf(n)), mpf(n), m, c))
                                           for i in range(9) if i < 4 * n])
                orders = (f"order {m} " if m else "") + (f"cells {c} " if c else "")
                on_scale("nb.sincg", [F, F], f"nb.sincg $a, $b {orders}: f64", [x, n],
                         sincg(mpf(x), mpf(n), m, c), largest, 16 if n > 2 or m < 3 else 64)
    for k in range(5):
        n = k + 1
        for u in (0.0, 1e-300, 1e-12, 1e-6, 0.5, 1.0, 3.999, 4.001, 4 * n + 5.999, 4 * n + 6.001,
                  n * n - 0.001, n * n + 0.001, 20.190728556426631, 100.0, 1000.0):
            order = f"order {k} " if k else ""
            on_scale("nb.ball", [F], f"nb.ball $a {order}: f64", [u], ball(mpf(u), k),
                     abs(ball(mpf(0), k)), 4)
    delta, cells = [0.0625, -1e-9, 0.3], [5.0, 1000.0, 2.5]
    for order, by_cells in (((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 0, 0)), ((0, 1, 0), (0, 0, 0)),
                            ((0, 0, 1), (0, 0, 0)), ((0, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)),
                            ((0, 2, 0), (0, 0, 0)), ((1, 1, 1), (0, 0, 0)), ((0, 1, 0), (0, 1, 0)),
                            ((0, 0, 3), (0, 2, 1))):
        expected = mpf(1)
        for x, n, m, c in zip(exact(delta), exact(cells), order, by_cells):
            expected *= sincg(x, n, m, c)
        case("nb.grating", [V, V], F, f"nb.grating $a, $b order {list(order)} "
             f"cells {list(by_cells)} : {V}", [delta, cells], expected, 32)


def simple(op, types, result, suffix, args, formula, ulps=0, attributes=""):
    operands = ", ".join(f"${chr(97 + i)}" for i in range(len(types)))
    case(op, types, result, f"{op} {attributes}{operands} : {suffix}", args,
         formula(*[exact(a) for a in args]), ulps)


def nb():
    u, v, w = [0.3, -1.7, 2.9], [4.1, 0.25, -0.6], [-2.0, 0.5, 1e-3]
    m, k = [1.5, -0.2, 0.7, 2.25, 0.1, -3.0, 0.4, 5.0, -1.1], [0.3, 1, 2, -4, 5.5, 6, 7, -8, 9.25]
    n = [0.6, 0.0, 0.8]
    simple("nb.vec", [F] * 3, V, "f64", [1.5, -2.0, 3.25], lambda *x: list(x))
    case("nb.mat", [F] * 9, M, "nb.mat $a, $b, $c, $d, $e, $f, $g, $h, $i : !nb.mat3<f64>", m, m)
    for i in range(3):
        case("nb.component", [V], F, f"nb.component $a[{i}] : {V}", [u], u[i])
        case("nb.row", [M], V, f"nb.row $a[{i}] : {M}", [m], m[3 * i:3 * i + 3])
        for j in range(3):
            case("nb.element", [M], F, f"nb.element $a[{i}, {j}] : {M}", [m], m[3 * i + j])
    simple("nb.add", [V, V], V, V, [u, v], plus)
    simple("nb.sub", [V, V], V, V, [u, v], lambda a, b: [p - q for p, q in zip(a, b)])
    simple("nb.cross", [V, V], V, V, [u, v], cross, 2)
    simple("nb.scale", [V, F], V, V, [u, 0.1], scaled, 1)
    simple("nb.dot", [V, V], F, V, [u, v], dot, 4)
    simple("nb.norm", [V], F, V, [[3.0, 4.0, 12.0]], norm)
    simple("nb.norm", [V], F, V, [u], norm, 1)
    simple("nb.normalize", [V], V, V, [u], unit, 2)
    simple("nb.normalize", [V], V, V, [[0.0, 0.0, 0.0]], unit)
    simple("nb.transform", [M, V], V, V, [m, u], times, 2)
    simple("nb.multiply", [M, M], M, M, [m, k], multiply, 2)
    simple("nb.transpose", [M], M, M, [m], transpose)
    simple("nb.add", [M, M], M, M, [m, k], plus)
    simple("nb.sub", [M, M], M, M, [m, k], lambda a, b: [p - q for p, q in zip(a, b)])
    simple("nb.scale", [M, F], M, M, [m, 0.1], scaled, 1)
    simple("nb.outer", [V, V], M, V, [u, v], lambda a, b: [p * q for p in a for q in b])
    simple("nb.frobenius", [M, M], F, M, [m, k], dot, 4)
    for angle in (0.0, 0.5, -2.0, 1e-9):
        simple("nb.axis_rotation", [V, F], M, V, [n, angle], axis_rotation, 2)
    for w in ([0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1e-9, 2e-9, 0.0], [-2.0, 1.0, 3.0]):
        simple("nb.vector_rotation", [V], M, V, [w], vector_rotation, 4)
    simple("nb.euler_rotation", [F] * 3, M, "f64", [0.3, -0.8, 2.0], euler, 4)
    simple("nb.euler_rotation", [F] * 3, M, "f64", [0.0, 0.0, 0.0], euler)
    for pixel, sub, over in ((0, 0, 1), (1023, 2, 3)):
        simple("nb.detector_coordinate", [I, I, I, F], F, "index, f64", [pixel, sub, over, 1e-4],
               lambda p, s, o, size: size / o * (p * o + s) + size / o / 2, 2)
    x, y, z = [0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]
    case("nb.pixel_position", [V] * 4 + [F] * 3, V,
         f"nb.pixel_position $a, $b, $c, $d at $e, $f, $g : {V}", [u, x, y, z, 0.05, 0.06, 0.001],
         plus(exact(u), scaled(exact(x), mpf(0.05)), scaled(exact(y), mpf(0.06)),
              scaled(exact(z), mpf(0.001))), 2)
    simple("nb.curved_position", [V] * 3 + [F] * 3, V, V, [z, x, y, 0.1, 0.3, -0.2],
           lambda b, f, s, r, t, q: rotate(rotate(scaled(b, r), s, t), f, q), 4)
    P = [0.1, 0.02, -0.03]
    simple("nb.solid_angle", [V, F, F], F, V, [P, 0.1, 1e-4], solid_angle, 4, "pixel ")
    simple("nb.solid_angle", [V, F, F], F, V, [P, 0.1, 1e-4], lambda p, c, s: 1 / dot(p, p), 2,
           "point ")
    for t in (0.0, 3.0):
        simple("nb.capture_fraction", [V, V, F, F, F], F, V, [[0.6, 0.0, 0.8], z, t, 1e-4, 2e-4],
               capture, 8)
    cell = [7.1e-9, 8.2e-9, 9.3e-9, 1.3, 1.5, 1.7]
    simple("nb.cell_volume", [F] * 6, F, "f64", cell, volume, 8)
    for rule in ("right", "c"):
        simple("nb.reciprocal_cell", [F] * 6, M, "f64", cell,
               lambda *c: reciprocal(rule, *c), 16, rule + " ")
    simple("nb.direct_cell", [M], M, M, [k], direct, 16)
    case("nb.direct_cell", [M, F, F, F], M, f"nb.direct_cell $a lengths($b, $c, $d) : {M}",
         [m, 3.0, 4.0, 5.0], direct(exact(m), [3, 4, 5]), 8)
    simple("nb.scattering_vector", [V, V, F], V, V, [n, z, 1e-10],
           lambda d, s, l: [(p - q) / l for p, q in zip(d, s)], 2)
    for dmin in (0.0, 0.3, 0.4):
        case("nb.within_resolution", [V, F], B, f"nb.within_resolution $a, $b : {V}, i1",
             [[0.0, 3.0, 0.0], dmin], 0 if dmin == 0.4 else 1)
    simple("nb.miller_index", [M, V], V, V, [m, u], times, 2)
    simple("nb.nearest_miller_index", [V], V, V, [[0.5, -0.5, 2.5000001]], nearest)
    simple("nb.nearest_miller_index", [V], V, V, [[1.4999, -7.6, 0.0]], nearest)
    for x0, cells in ((0.0, 10.0), (0.3, 5.0), (1e-7, 1000.0), (-0.25, 7.0)):
        simple("nb.sincg", [F, F], F, "f64", [x0, cells],
               lambda x, c: sin(pi * c * x) / sin(pi * x) if x else c, 16)
    hkl, cells = [2.3125, -0.40625, 7.015625], [5.0, 6.0, 7.0]
    simple("nb.lattice_factor", [V, V], F, V, [hkl, cells], lambda *a: lattice("square", *a), 16,
           "square ")
    simple("nb.lattice_factor", [V, V], F, V, [[1.0, -2.0, 0.0], cells],
           lambda *a: lattice("square", *a), 0, "square ")
    simple("nb.lattice_factor", [V, V], F, V, [[100.0009765625, 3.0, 0.0], [1000.0, 1.0, 1.0]],
           lambda *a: lattice("square", *a), 64, "square ")
    near = [2.03125, -0.0625, 7.015625]
    for shape, ulps in (("round", 16), ("gauss", 8), ("tophat", 0)):
        for at in (near, [2.0, 0.0, 7.0]):
            case("nb.lattice_factor", [V, V, F], F,
                 f"nb.lattice_factor {shape} $a, $b fudge $c : {V}", [at, cells, 1.25],
                 lattice(shape, exact(at), exact(cells), mpf(1.25)), ulps)
    for at in ([2.1117, 0.0, 7.0], [2.1131, 0.0, 7.0]):  # on either side of the tophat's edge
        case("nb.lattice_factor", [V, V, F], F,
             f"nb.lattice_factor tophat $a, $b fudge $c : {V}", [at, cells, 1.25],
             lattice("tophat", exact(at), exact(cells), mpf(1.25)), 0)
    metric = [1e8, 2e7, 0.0, 0.0, 9e7, -1e7, 0.0, 0.0, 8e7]
    for shape in ("gauss", "tophat"):
        case("nb.lattice_factor", [V, V, F, M], F,
             f"nb.lattice_factor {shape} $a, $b fudge $c reciprocal $d : {V}",
             [near, cells, 1.25, metric], lattice(shape, exact(near), exact(cells), mpf(1.25),
                                                  exact(metric)), 16)
    widths = [1.5, -2.25, 0.5]
    for at in (near, [2.0, 0.0, 7.0]):
        case("nb.lattice_factor", [V, V, F, V], F,
             f"nb.lattice_factor gauss_matrix $a, $b cross $d fudge $c : {V}",
             [at, cells, 1.25, widths],
             lattice("gauss_matrix", exact(at), exact(cells), mpf(1.25), None, exact(widths)), 16)
    case("nb.lattice_factor", [V, V], F, f"nb.lattice_factor square fraction $a, $b : {V}",
         [[0.3125, -0.40625, 0.015625], cells], lattice("square", exact(hkl), exact(cells)), 16)
    simple("nb.intensity", [F, F], F, "f64", [12.5, -3.3], lambda f, l: (f * l) ** 2, 2)
    for K in (0.0, 1.0, 0.7):
        simple("nb.polarization", [F, V, V, V], F, V, [K, [0.0, 1.0, 0.0], z, n], polarization, 4)
        simple("nb.polarization", [F, V, V, V], F, V, [K, [0.0, 1.0, 0.0], z, z], polarization, 1)
    simple("nb.water_background", [F, F], F, "f64", [1e-5, 1e24],
           lambda s, f: mpf("2.57") ** 2 * mpf("7.94079248018965e-30") * f * s ** 3 *
           mpf(10) ** 6 * mpf("6.02214179e23") / 18, 8)
    disorder(n)


def disorder(n):
    def diffuse(reflection, distance, lengths, displacements):
        e = 4 * mpmath.pi ** 2 * sum((s * q) ** 2 for s, q in zip(displacements, reflection))
        u = 1 + 4 * mpmath.pi ** 2 * sum((g * d) ** 2 for g, d in zip(lengths, distance))
        volume = lengths[0] * lengths[1] * lengths[2]
        return e * mpmath.exp(-e) * 8 * mpmath.pi * volume / u ** 2

    at = [3e8, -1e8, 2e8], [1e7, 2e7, -3e7], [2e-9, 3e-9, 5e-9], [3e-11, 2e-11, 4e-11]
    case("nb.diffuse_factor", [V, V, V, V], F,
         f"nb.diffuse_factor $a, $b lengths $c displacements $d : {V}", list(at),
         diffuse(*(exact(v) for v in at)), 16)


def arithmetic():
    for op, formula, ulps in (("addf", lambda a, b: a + b, 0), ("subf", lambda a, b: a - b, 0),
                              ("mulf", lambda a, b: a * b, 0), ("divf", lambda a, b: a / b, 0),
                              ("remf", lambda a, b: a - b * mpmath.floor(a / b), 0),
                              ("maximumf", max, 0), ("minimumf", min, 0),
                              ("maxnumf", max, 0), ("minnumf", min, 0)):
        simple("arith." + op, [F, F], F, "f64", [7.3, 0.9], formula, ulps)
    simple("arith.negf", [F], F, "f64", [7.3], lambda a: -a)
    nan = float("nan")
    for op, expected in (("maximumf", nan), ("minimumf", nan), ("maxnumf", 2.0), ("minnumf", 2.0)):
        case("arith." + op, [F, F], F, f"arith.{op} $a, $b : f64", [nan, 2.0], expected)
    for op, formula in (("addi", lambda a, b: a + b), ("subi", lambda a, b: a - b),
                        ("muli", lambda a, b: a * b), ("maxsi", max), ("minsi", min),
                        ("floordivsi", lambda a, b: a // b), ("ceildivsi", lambda a, b: -(-a // b)),
                        ("divsi", lambda a, b: int(a / b)),
                        ("remsi", lambda a, b: a - b * int(a / b)),
                        ("andi", lambda a, b: a & b), ("ori", lambda a, b: a | b),
                        ("xori", lambda a, b: a ^ b)):
        case("arith." + op, [I, I], I, f"arith.{op} $a, $b : index", [-17, 5], formula(-17, 5))
    ordered = {"oeq": lambda a, b: a == b, "ogt": lambda a, b: a > b, "oge": lambda a, b: a >= b,
               "olt": lambda a, b: a < b, "ole": lambda a, b: a <= b, "one": lambda a, b: a != b}
    for name, test in ordered.items():
        for a, b in ((1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (nan, 2.0)):
            isnan = a != a
            case("arith.cmpf", [F, F], B, f"arith.cmpf {name}, $a, $b : f64", [a, b],
                 int(not isnan and test(a, b)))
            case("arith.cmpf", [F, F], B, f"arith.cmpf u{name[1:]}, $a, $b : f64", [a, b],
                 int(isnan or test(a, b)))
    for name, test in {"eq": int.__eq__, "ne": int.__ne__, "slt": int.__lt__, "sle": int.__le__,
                       "sgt": int.__gt__, "sge": int.__ge__}.items():
        for a, b in ((-1, 2), (2, 2), (3, 2)):
            case("arith.cmpi", [I, I], B, f"arith.cmpi {name}, $a, $b : index", [a, b],
                 int(test(a, b)))
    case("arith.cmpi", [I, I], B, "arith.cmpi ult, $a, $b : index", [-1, 2], 0)
    for c in (0, 1):
        case("arith.select", [B, F, F], F, "arith.select $a, $b, $c : f64", [c, 1.5, 2.5],
             1.5 if c else 2.5)
        case("arith.select", [B, V, V], V, f"arith.select $a, $b, $c : {V}",
             [c, [1, 2, 3], [4, 5, 6]], [1, 2, 3] if c else [4, 5, 6])
    case("arith.truncf", [F], "f32", "arith.truncf $a : f64 to f32", [0.1], 0.10000000149011612)
    case("arith.extf", ["f32"], F, "arith.extf $a : f32 to f64", [0.1], 0.10000000149011612)
    case("arith.addf", ["f32", "f32"], "f32", "arith.addf $a, $b : f32", [16777216.0, 1.0],
         16777216.0)
    case("arith.index_cast", [I], "i64", "arith.index_cast $a : index to i64", [-9], -9)
    case("arith.sitofp", ["i64"], F, "arith.sitofp $a : i64 to f64", [-9], -9)
    case("arith.sitofp", [B], F, "arith.sitofp $a : i1 to f64", [1], -1)
    case("arith.uitofp", [B], F, "arith.uitofp $a : i1 to f64", [1], 1)
    for op, expected in (("maxui", -1), ("minui", 2), ("divui", (2**64 - 1) // 2), ("remui", 1)):
        case("arith." + op, [I, I], I, f"arith.{op} $a, $b : index", [-1, 2], expected)
    case("arith.fptosi", [F], "i64", "arith.fptosi $a : f64 to i64", [-9.75], -9)
    case("arith.extui", [B], "i64", "arith.extui $a : i1 to i64", [1], 1)
    case("arith.extsi", [B], "i64", "arith.extsi $a : i1 to i64", [1], -1)


def mathematics():
    def erf(x):
        return mpmath.erf(x)

    for op, formula, x, ulps in (
            ("absf", abs, -2.5, 0), ("sqrt", sqrt, 2.0, 0),
            ("rsqrt", lambda x: 1 / sqrt(x), 3.0, 1),
            ("cbrt", mpmath.cbrt, 5.0, 1), ("sin", sin, 2.5, 1), ("cos", cos, 2.5, 1),
            ("tan", mpmath.tan, 1.25, 1), ("asin", mpmath.asin, 0.3, 1),
            ("acos", mpmath.acos, 0.3, 1),
            ("atan", mpmath.atan, 3.0, 1), ("tanh", mpmath.tanh, 0.7, 2), ("exp", exp, -3.3, 1),
            ("exp2", lambda x: mpf(2) ** x, 3.3, 1), ("expm1", mpmath.expm1, 1e-5, 1),
            ("sinh", mpmath.sinh, 0.7, 2), ("cosh", mpmath.cosh, 0.7, 2),
            ("asinh", mpmath.asinh, 0.7, 2), ("acosh", mpmath.acosh, 1.7, 2),
            ("atanh", mpmath.atanh, 0.7, 2), ("erfc", mpmath.erfc, 0.4, 2),
            ("log", mpmath.log, 7.0, 1), ("log2", lambda x: mpmath.log(x, 2), 7.0, 1),
            ("log10", mpmath.log10, 7.0, 1), ("log1p", mpmath.log1p, 1e-5, 1), ("erf", erf, 0.4, 1),
            ("floor", floor, -2.5, 0), ("ceil", ceil, -2.5, 0),
            ("trunc", lambda x: -floor(-x), -2.5, 0),
            ("round", lambda x: mpf(-3), -2.5, 0), ("roundeven", lambda x: mpf(-2), -2.5, 0)):
        simple("math." + op, [F], F, "f64", [x], formula, ulps)
    simple("math.atan2", [F, F], F, "f64", [-0.3, -2.0], atan2, 1)
    simple("math.powf", [F, F], F, "f64", [2.5, -1.3], lambda a, b: a ** b, 1)
    simple("math.copysign", [F, F], F, "f64", [2.5, -0.0], lambda a, b: -a)
    simple("math.fma", [F] * 3, F, "f64", [0.1, 10.0, -1.0], lambda a, b, c: a * b + c)
    for op, values in (("isnan", (1, 0, 0)), ("isinf", (0, 1, 0)), ("isfinite", (0, 0, 1))):
        for x, expected in zip((float("nan"), float("inf"), 2.0), values):
            case("math." + op, [F], B, f"math.{op} $a : f64", [x], expected)


print("// Written by cases.py; do not edit.")
nb()
derivatives()
arithmetic()
mathematics()
