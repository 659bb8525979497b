"""Images in JAX: jit, derivatives twice, vmap, refusals."""

import sys
import unittest

try:
    import jax
except ImportError:
    print("skipped: JAX is not installed in build/venv")
    sys.exit(0)

import jax.numpy as jnp
import numpy as np

import nanobragg as nb
from common import central, simulator
from nanobragg.jax import image, reflections

jax.config.update("jax_enable_x64", True)


def small():
    return simulator("-detpixels", "6", "-pixel", "4")


class Jax(unittest.TestCase):
    def test_image(self):
        sim = small()
        a = jnp.asarray(sim["cell_a"])
        np.testing.assert_array_equal(image(sim, cell_a=a), sim.image())
        np.testing.assert_array_equal(jax.jit(lambda a: image(sim, cell_a=a))(a), sim.image())
        single = image(sim, cell_a=jnp.asarray(7e-9, jnp.float32))
        self.assertEqual(single.dtype, jnp.float32)
        np.testing.assert_allclose(single, sim.image(), rtol=1e-3, atol=1e-3 * sim.image().max())

    def test_gradient(self):
        sim = small()
        weights = np.random.default_rng(1).random(sim.shape)
        gradient = jax.jit(jax.grad(lambda m, f: (image(sim, misset=m, F=f) * weights).sum(), argnums=(0, 1)))
        m, f = gradient(jnp.asarray(sim["misset"]), jnp.asarray(sim.structure_factors[0]))
        want = sim.gradient("misset,F", cotangent=weights)
        np.testing.assert_allclose(m, [want[n] for n in ("misset_x", "misset_y", "misset_z")], rtol=1e-12)
        np.testing.assert_allclose(f, want["F"], rtol=1e-12)

    def test_hessian(self):
        sim = small()
        data = sim.image() * 1.1

        def loss(m):
            return ((image(sim, misset=m) - data)**2).sum()

        hessian = jax.jit(jax.jacrev(jax.jacrev(loss)))(jnp.asarray(sim["misset"]))
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9)
        row = sim.hvp({"misset": (0, 1, 0)}, loss=nb.Loss.chi_square(data))
        np.testing.assert_allclose(hessian[1], [row[n] for n in ("misset_x", "misset_y", "misset_z")], rtol=1e-8)
        gradient = jax.grad(loss)
        at = jnp.asarray(sim["misset"])
        difference = central(lambda t: np.asarray(gradient(at.at[0].add(t))), 0.0, 1e-5)
        np.testing.assert_allclose(hessian[0], difference, rtol=1e-6)

    def test_forward_mode(self):
        sim = small()
        m, v = jnp.asarray(sim["misset"]), jnp.array([0.3, -0.2, 1.0])
        value, change = jax.jvp(lambda m: image(sim, misset=m), (m,), (v,))
        np.testing.assert_array_equal(value, sim.image())
        want = sim.jvp({"misset": np.asarray(v)})
        np.testing.assert_allclose(change, want, rtol=1e-12, atol=1e-12 * abs(want).max())
        jacobian = jax.jit(jax.jacfwd(lambda m: image(sim, misset=m)))(m)
        for i, (_, column) in enumerate(sim.jacobian("misset").items()):
            np.testing.assert_allclose(jacobian[..., i], column, rtol=1e-9, atol=1e-12 * abs(column).max())
        np.testing.assert_allclose(jacobian, jax.jacrev(lambda m: image(sim, misset=m))(m), rtol=1e-9, atol=1e-12 * abs(jacobian).max())

    def test_ways_to_the_second_derivative(self):
        sim = small()
        data = sim.image() * 1.1
        m = jnp.asarray(sim["misset"])

        def loss(m):
            return ((image(sim, misset=m) - data)**2).sum()

        reverse = jax.jacrev(jax.jacrev(loss))(m)
        for way in (jax.hessian, lambda f: jax.jacfwd(jax.jacrev(f)), lambda f: jax.jacrev(jax.jacfwd(f))):
            np.testing.assert_allclose(way(loss)(m), reverse, rtol=1e-9)
            np.testing.assert_allclose(jax.jit(way(loss))(m), reverse, rtol=1e-9)
        # Along a direction, as Newton's method with conjugate gradients takes it.
        v = jnp.array([1.0, 2.0, 3.0])
        np.testing.assert_allclose(jax.jvp(jax.grad(loss), (m,), (v,))[1], reverse @ v, rtol=1e-9)
        np.testing.assert_allclose(jax.grad(lambda m: jax.jvp(loss, (m,), (v,))[1])(m), reverse @ v, rtol=1e-9)

    def test_what_no_kernel_computes(self):
        sim = small()
        m = jnp.asarray(sim["misset"])

        def loss(m):
            return (image(sim, misset=m)**2).sum()

        for call, words in ((jax.jacfwd(jax.jacfwd(loss)), "jax.hessian"), (jax.jacrev(jax.hessian(loss)), "third"),
                            (jax.jacfwd(jax.hessian(loss)), "third|jax.hessian")):
            for how in (call, jax.jit(call)):
                with self.subTest(words), self.assertRaisesRegex(NotImplementedError, words):
                    how(m)

    def test_lifetimes(self):
        """Compiled code keeps what it runs; images of a simulator that changes keep nothing."""
        import gc
        import weakref
        from nanobragg import _snapshots
        sim = small()
        want = sim.image()
        compiled = jax.jit(lambda a: image(sim, cell_a=a)).lower(sim["cell_a"]).compile()  # noqa: F821
        gone, at = weakref.ref(sim), sim["cell_a"]
        before = len(_snapshots._snapshots)
        other = small()
        for i in range(50):
            other["cell_b"] = 8e-9 + i * 1e-13
            image(other, cell_a=7e-9)
        del sim, other
        jax.clear_caches()
        gc.collect()
        self.assertLess(len(_snapshots._snapshots), before + 2)
        self.assertIsNone(gone())
        np.testing.assert_array_equal(compiled(at), want)

    def test_reflections(self):
        sim = nb.Simulator.from_flags("-lambda 1 -distance 100 -detpixels 500 -pixel 0.07 -gauss_xtal -N 10 -cell 70 80 90 85 95 100 "
                                      "-default_F 100 -mosaic 0.2 --bandwidth-sigma=0.2 --average=closed", threads=1)
        table = sim.reflections(0.1)
        arrays = reflections(sim, 0.1, cell_a=jnp.asarray(sim["cell_a"]))
        for name, column in table.items():
            np.testing.assert_allclose(arrays[name], column, rtol=1e-14, err_msg=name)

        def total(cell, distance):
            made = reflections(sim, miller_index=table.miller_index, cell_a=cell, distance=distance)
            return (made["photons"] * made["fast"]).sum() + made["covariance"].sum()

        at = jnp.asarray(sim["cell_a"]), jnp.asarray(sim["distance"])
        want = sim.reflections(miller_index=table.miller_index).vjp(
            "cell_a,distance", photons=table.fast, fast=table.photons, covariance=np.ones_like(table.covariance))
        for got, name in zip(jax.jit(jax.grad(total, argnums=(0, 1)))(*at), ("cell_a", "distance")):
            np.testing.assert_allclose(got, want[name], rtol=1e-9)
        slope = jax.jvp(total, at, (1e-10, 0.0))[1]
        np.testing.assert_allclose(slope, 1e-10 * want["cell_a"], rtol=1e-9)
        both = jax.vmap(lambda d: total(at[0], d))(at[1] * jnp.asarray([1.0, 1.01]))
        np.testing.assert_allclose(both[1], total(at[0], at[1] * 1.01), rtol=1e-12)
        with self.assertRaisesRegex(ValueError, "give miller_index="):
            jax.jit(lambda d: reflections(sim, distance=d)["photons"])(at[1])

    def test_vmap(self):
        sim = small()
        cells = jnp.linspace(69e-10, 71e-10, 3)
        images = jax.jit(jax.vmap(lambda a: image(sim, cell_a=a)))(cells)
        gradients = jax.vmap(jax.grad(lambda a: image(sim, cell_a=a).sum()))(cells)
        for a, one, g in zip(cells, images, gradients):
            sim["cell_a"] = float(a)
            np.testing.assert_array_equal(one, sim.image())
            np.testing.assert_allclose(g, sim.gradient("cell_a")["cell_a"], rtol=1e-12)
        # Two arguments, of which one is not mapped; none at all.
        pair = jax.vmap(lambda a, m: image(sim, cell_a=a, misset=m), in_axes=(0, None))(cells, jnp.asarray(sim["misset"]))
        np.testing.assert_array_equal(pair, images)
        self.assertEqual(jax.vmap(lambda a: image(sim, cell_a=a))(cells[:0]).shape, (0, *sim.shape))

    def test_no_compilation(self):
        sim = small()
        gradient = jax.jit(jax.grad(lambda a: image(sim, cell_a=a).sum()))
        gradient(7e-9)
        before = nb.counters()["compiles"]
        for a in np.linspace(69e-10, 71e-10, 50):
            gradient(a)
        self.assertEqual(nb.counters()["compiles"], before)

    def test_refusals(self):
        sim = small()
        for call, kind, words in (
                (lambda: image(sim), ValueError, "at least one"),
                (lambda: image(sim, cell_aa=1.0), ValueError, "closest is 'cell_a'"),
                (lambda: image(sim, cell_a=jnp.ones(1)), ValueError, r"'cell_a' has shape \(\), .*vmap renders a batch"),
                (lambda: image(sim, cell_a=3), TypeError, "int"),
                (lambda: image(None, cell_a=1.0), TypeError, "NoneType"),
                (lambda: image(sim, cell_a=float("nan")).block_until_ready(), Exception, "'cell_a' is not a number"),
                (lambda: image(sim, cell_a=-1.0).block_until_ready(), Exception, "'cell_a'")):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()


if __name__ == "__main__":
    unittest.main()
