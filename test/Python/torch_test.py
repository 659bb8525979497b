"""Images in PyTorch: derivatives twice, operators, compilation, hostile use."""

import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch); NB_TEST_TORCH=pip ./bootstrap test fetches it (3 GB)")
    sys.exit(0)

import numpy as np

import nanobragg as nb
from common import reference, simulator
import nanobragg.torch as nbt
from nanobragg.torch import NBImage, image, reflections

modern = hasattr(torch.library, "custom_op")
f64 = torch.float64


def small():
    return simulator("-detpixels", "6", "-pixel", "4")


def scaled(sim, **start):
    """The image as a function of numbers near 1, and these."""
    names = list(start)

    def function(*xs):
        return image(sim, **{n: x * torch.as_tensor(start[n], dtype=f64) for n, x in zip(names, xs)})

    xs = [torch.ones_like(torch.as_tensor(start[n], dtype=f64)).requires_grad_() for n in names]
    return function, xs


class Shots(torch.utils.data.Dataset):
    def __init__(self, sim):
        self.sim = sim

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return image(self.sim, cell_a=torch.tensor(7e-9 + i * 1e-11, dtype=f64))


class Derivatives(unittest.TestCase):
    def test_value(self):
        sim = reference()
        t = torch.tensor(sim["cell_a"], dtype=f64)
        np.testing.assert_array_equal(image(sim, cell_a=t).numpy(), sim.image())

    def test_gradcheck(self):
        sim = small()
        function, xs = scaled(sim, cell_a=sim["cell_a"], misset=sim["misset"], distance=sim["distance"])
        self.assertTrue(torch.autograd.gradcheck(function, xs))
        self.assertTrue(torch.autograd.gradcheck(function, xs, rtol=1e-6, atol=1e-4, eps=1e-7))

    def test_gradgradcheck(self):
        sim = small()
        sim["fluence"] = sim["fluence"] / 100
        function, xs = scaled(sim, cell_a=sim["cell_a"], misset=sim["misset"])
        self.assertTrue(torch.autograd.gradgradcheck(function, xs))

    def test_grid(self):
        sim = small()
        sim.structure_factors = np.random.default_rng(1).uniform(1, 2, (3, 3, 3)), (-1, -1, -1)
        f = torch.tensor(sim.structure_factors[0], requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda f: image(sim, F=f), [f]))
        self.assertTrue(torch.autograd.gradgradcheck(lambda f: image(sim, F=f), [f]))

    def test_hessian(self):
        sim = small()
        data = torch.tensor(sim.image()) * 1.1
        x = torch.tensor(sim["misset"], requires_grad=True)
        hessian = torch.autograd.functional.hessian(lambda x: ((image(sim, misset=x) - data)**2).sum(), x)
        loss = nb.Loss.chi_square(data)
        for i, v in enumerate(np.eye(3)):
            row = sim.hvp({"misset": v}, loss=loss)
            np.testing.assert_allclose(hessian[i], [row[n] for n in ("misset_x", "misset_y", "misset_z")], rtol=1e-8)

    def test_whoever_looks_on(self):
        """Batches of cotangents, forward mode over the backward pass, tracers: they see no numbers where images are made."""
        sim = small()
        x = torch.tensor(sim["misset"], requires_grad=True)
        want = torch.tensor(np.stack(list(sim.jacobian("misset").values()), -1))
        made = image(sim, misset=x)
        with torch.autograd.forward_ad.dual_level():
            cotangent = torch.autograd.forward_ad.make_dual(torch.zeros_like(made), torch.ones_like(made))
            derivative, = torch.autograd.grad(made, x, cotangent, retain_graph=True)
            got = torch.autograd.forward_ad.unpack_dual(derivative).tangent
        torch.testing.assert_close(got, want.sum((0, 1)))
        if not modern:
            return
        every = torch.eye(36, dtype=f64).reshape(36, 6, 6)
        for create_graph in (True, False):
            got, = torch.autograd.grad(made, x, every, is_grads_batched=True, create_graph=create_graph, retain_graph=True)
            torch.testing.assert_close(got.detach().reshape(want.shape), want)
        first, = torch.autograd.grad(made.sum(), x, create_graph=True)
        second, = torch.autograd.grad(first, x, torch.eye(3, dtype=f64), is_grads_batched=True)
        rows = [list(sim.hvp({"misset": v}).values()) for v in np.eye(3)]
        torch.testing.assert_close(second, torch.tensor(rows, dtype=f64))
        from torch.fx.experimental.proxy_tensor import make_fx
        traced = make_fx(lambda x: image(sim, misset=x))(x.detach())
        other = sim.copy()
        other["misset"] = (0.1, 0.2, 0.3)
        torch.testing.assert_close(traced(torch.tensor(other["misset"])), torch.tensor(other.image()))

    def test_third_is_refused(self):
        sim = small()
        x = torch.tensor(sim["cell_a"], requires_grad=True)
        first, = torch.autograd.grad((image(sim, cell_a=x)**2).sum(), x, create_graph=True)
        second, = torch.autograd.grad(first, x, create_graph=True)
        with self.assertRaisesRegex((NotImplementedError, RuntimeError), "third|does not require grad|not differentiable"):
            torch.autograd.grad(second, x)

    def test_dtype(self):
        t = torch.tensor(7e-9, requires_grad=True)
        result = image(small(), cell_a=t)
        self.assertEqual(result.dtype, torch.float32)
        result.sum().backward()
        self.assertEqual(t.grad.dtype, torch.float32)

    def test_changes_between(self):
        sim = small()
        x = torch.tensor(sim["cell_a"], dtype=f64, requires_grad=True)
        want, = torch.autograd.grad(image(sim, cell_a=x).sum(), x)
        result = image(sim, cell_a=x).sum()
        sim["cell_b"] = 9.5e-9
        got, = torch.autograd.grad(result, x)
        self.assertEqual(got, want)
        other, = torch.autograd.grad(image(sim, cell_a=x).sum(), x)
        self.assertNotEqual(other, want)
        result = image(sim, cell_a=x).sum()
        del sim
        result.backward()
        self.assertEqual(x.grad, other)


class Reflections(unittest.TestCase):
    def setUp(self):
        self.sim = nb.Simulator.from_flags("-cell 70 80 90 85 95 100 -default_F 100 -gauss_xtal -N 10 -mosaic 0.3 -lambda 1 -distance 100 "
                                           "-detpixels 60 -pixel 0.5 --average=closed")

    def test_table(self):
        table, tensors = self.sim.reflections(), reflections(self.sim, cell_a=torch.tensor(self.sim["cell_a"], dtype=f64))
        self.assertEqual(set(table), set(tensors))
        for name, column in table.items():
            np.testing.assert_array_equal(tensors[name].numpy(), column)

    def test_gradients(self):
        start = {"cell_a": self.sim["cell_a"], "misset": self.sim["misset"], "distance": self.sim["distance"]}

        def columns(*xs):
            table = reflections(self.sim, 0.05, **{n: torch.as_tensor(start[n], dtype=f64) + x * s for (n, s), x in zip(scale.items(), xs)})
            return table["fast"], table["covariance"], table["wavelength"], torch.log(table["photons"])

        scale = {"cell_a": 1e-10, "misset": 1e-3, "distance": 1e-2}
        xs = [torch.zeros(np.shape(v), dtype=f64, requires_grad=True) for v in start.values()]
        self.assertTrue(torch.autograd.gradcheck(columns, xs, eps=1e-5, rtol=1e-4, atol=1e-6))

    def test_structure_factors(self):
        self.sim.structure_factors = np.full((41, 41, 41), 10.0), (-20, -20, -20)
        factors = torch.tensor(self.sim.structure_factors[0], requires_grad=True)
        table = reflections(self.sim, F=factors)
        table["photons"].sum().backward()
        h, k, l = table["miller_index"].T + 20
        torch.testing.assert_close(factors.grad[h, k, l], 2 * table["photons"].detach() / 10)

    def test_a_fit(self):
        observed = reflections(self.sim, 0.05, misset=torch.zeros(3, dtype=f64))
        angles = torch.tensor([1e-4, -2e-4, 1e-4], dtype=f64, requires_grad=True)
        table = reflections(self.sim, 1e-3, misset=angles)
        rows = {tuple(i): n for n, i in enumerate(table["miller_index"].tolist())}
        at = [rows[tuple(i)] for i in observed["miller_index"].tolist()]
        away = torch.stack([table[name][at] - observed[name] for name in ("fast", "slow")])
        slopes = torch.stack([torch.autograd.grad(x, angles, retain_graph=True)[0] for x in away.reshape(-1)])
        step = torch.linalg.lstsq(slopes, away.detach().reshape(-1)).solution
        self.assertLess((angles.detach() - step).abs().max(), 1e-6)

    @unittest.skipUnless(hasattr(torch, "func"), "skipped: this torch has no torch.func")
    def test_transforms(self):
        rows = self.sim.reflections(0.1).miller_index
        at = torch.tensor(self.sim["distance"], dtype=f64)

        def places(distance):
            return reflections(self.sim, miller_index=rows, distance=distance)["fast"]

        slope = torch.tensor(self.sim.reflections(miller_index=rows).jvp({"distance": 1.0})["fast"])
        for way in (torch.func.jacfwd, torch.func.jacrev):
            torch.testing.assert_close(way(places)(at), slope, rtol=1e-10, atol=0)
        both = torch.vmap(places)(at * torch.tensor([1.0, 1.01], dtype=f64))
        torch.testing.assert_close(both[1], places(at * 1.01), rtol=0, atol=0)
        with self.assertRaisesRegex(ValueError, "give miller_index="):
            torch.vmap(lambda d: reflections(self.sim, distance=d)["fast"])(at.repeat(2))

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "reflections\\(\\) needs at least one tensor"):
            reflections(self.sim)


@unittest.skipUnless(modern, "skipped: this torch has no custom operators")
class Operators(unittest.TestCase):
    def test_opcheck(self):
        sim = small()
        theta = torch.tensor(sim["misset"], requires_grad=True)
        names = "misset_x,misset_y,misset_z"
        _, token = torch.ops.nanobragg.image(sim._handle, names, theta)
        ct = torch.rand(6, 6, dtype=f64, requires_grad=True)
        v = torch.rand(3, dtype=f64, requires_grad=True)
        torch.library.opcheck(torch.ops.nanobragg.image_vjp.default, (token, theta, ct))
        torch.library.opcheck(torch.ops.nanobragg.image_jvp.default, (token, theta, v, ct))
        torch.library.opcheck(torch.ops.nanobragg.image.default, (sim._handle, names, theta))

    def test_compile(self):
        sim = small()

        def loss(cell, misset):
            return (image(sim, cell_a=cell * 7e-9, misset=misset).sqrt() * 2).sum()

        compiled = torch.compile(loss, fullgraph=True)
        cell, misset = torch.ones((), dtype=f64, requires_grad=True), torch.tensor(sim["misset"], requires_grad=True)
        for _ in range(2):
            want = torch.autograd.grad(loss(cell, misset), (cell, misset))
            got = torch.autograd.grad(compiled(cell, misset), (cell, misset))
            for a, b in zip(got, want):
                torch.testing.assert_close(a, b, rtol=1e-12, atol=0)
            torch.testing.assert_close(compiled(cell, misset), loss(cell, misset), rtol=1e-12, atol=0)
            sim["cell_b"] = 9e-9  # seen by what is compiled
        other = simulator("-detpixels", "6", "-pixel", "5")
        sim = other
        torch.testing.assert_close(compiled(cell, misset), loss(cell, misset), rtol=1e-12, atol=0)

    def test_vmap(self):
        sim = small()
        missets = torch.tensor(sim["misset"]) + torch.rand(4, 3, dtype=f64)
        mapped = torch.vmap(lambda m: image(sim, misset=m))(missets)
        for m, one in zip(missets, mapped):
            torch.testing.assert_close(one, image(sim, misset=m), rtol=0, atol=0)

    def test_jacobian(self):
        sim = small()
        m = torch.tensor(sim["misset"])
        jacobian = torch.autograd.functional.jacobian(lambda m: image(sim, misset=m), m)
        want = sim.jacobian("misset")
        np.testing.assert_allclose(jacobian[..., 1], want["misset_y"], rtol=1e-9, atol=1e-9)


@unittest.skipUnless(hasattr(torch, "func"), "skipped: this torch has no torch.func")
class Transforms(unittest.TestCase):
    """torch.func and forward mode."""

    def setUp(self):
        self.sim = small()
        self.m = torch.tensor(self.sim["misset"])
        self.data = torch.tensor(self.sim.image()) * 1.1

    def image(self, m):
        return image(self.sim, misset=m)

    def loss(self, m):
        return ((self.image(m) - self.data)**2).sum()

    def close(self, got, want):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12 * float(abs(want).max()))

    def test_first(self):
        m = self.m.clone().requires_grad_()
        want, = torch.autograd.grad(self.loss(m), m)
        self.close(torch.func.grad(self.loss)(self.m), want)
        self.close(torch.func.vjp(self.loss, self.m)[1](torch.ones((), dtype=f64))[0], want)
        jacobian = torch.func.jacrev(self.image)(self.m)
        for i, column in enumerate(self.sim.jacobian("misset").values()):
            self.close(jacobian[..., i], torch.tensor(column))
        self.close(torch.func.jacfwd(self.image)(self.m), jacobian)
        v = torch.tensor([0.3, -0.2, 1.0], dtype=f64)
        value, change = torch.func.jvp(self.image, (self.m,), (v,))
        self.close(value, torch.tensor(self.sim.image()))
        self.close(change, jacobian @ v)

    def test_second(self):
        want = torch.autograd.functional.hessian(self.loss, self.m)
        for way in (torch.func.hessian, lambda f: torch.func.jacrev(torch.func.jacrev(f)),
                    lambda f: torch.func.jacrev(torch.func.jacfwd(f))):
            self.close(way(self.loss)(self.m), want)
        v = torch.tensor([1.0, 2.0, 3.0], dtype=f64)
        self.close(torch.func.jvp(torch.func.grad(self.loss), (self.m,), (v,))[1], want @ v)

    def test_vmap(self):
        missets = self.m + torch.rand(3, 3, dtype=f64)
        gradients = torch.func.vmap(torch.func.grad(self.loss))(missets)
        for m, gradient in zip(missets, gradients):
            self.close(gradient, torch.func.grad(self.loss)(m))

    def test_dual_numbers(self):
        with torch.autograd.forward_ad.dual_level():
            v = torch.tensor([0.3, -0.2, 1.0], dtype=f64)
            dual = torch.autograd.forward_ad.make_dual(self.m, v)
            change = torch.autograd.forward_ad.unpack_dual(self.image(dual)).tangent
        self.close(change, torch.tensor(self.sim.jvp({"misset": v})))
        self.assertTrue(torch.autograd.gradcheck(lambda x: image(self.sim, misset=x * self.m) / self.data.max(), torch.ones(3, dtype=f64, requires_grad=True),
                                                 check_forward_ad=True, check_batched_grad=True))

    def test_what_no_kernel_computes(self):
        for way, words in ((torch.func.jacfwd(torch.func.jacfwd(self.loss)), "torch.func.hessian"),
                           (torch.func.jacrev(torch.func.hessian(self.loss)), "third"),
                           (torch.func.jacfwd(torch.func.hessian(self.loss)), "third|torch.func.hessian")):
            with self.subTest(words), self.assertRaisesRegex((NotImplementedError, RuntimeError), words):
                way(self.m)


class Modules(unittest.TestCase):
    def test_fit(self):
        sim = small()
        data = torch.tensor(sim.image())
        sim.set(cell_a=sim["cell_a"] * 1.003)
        model = NBImage(sim, "cell_a,misset", bounds={"cell_a": (6.8e-9, 7.2e-9)}, scale={"misset": 0.01})
        self.assertEqual({n for n, _ in model.named_parameters()}, {"cell_a", "misset"})
        torch.testing.assert_close(model(), torch.tensor(sim.image()), rtol=1e-9, atol=1e-9)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        losses = []
        for _ in range(40):
            optimizer.zero_grad()
            loss = ((model() - data)**2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] / 10)
        model.update()
        torch.testing.assert_close(model(), torch.tensor(sim.image()), rtol=1e-9, atol=1e-9)
        of_members = NBImage(sim, "misset,cell_a", bounds={"misset": ([-3, -4, -5], [3, 4, 5])})
        torch.testing.assert_close(of_members(), model(), rtol=1e-9, atol=1e-9)
        with torch.no_grad():
            of_members.misset += 100.0
        torch.testing.assert_close(of_members.values()["misset"], torch.tensor([3.0, 4, 5], dtype=torch.float64))
        state = model.state_dict()
        model.load_state_dict(state)

    def test_workers(self):
        whole = small()
        for sim in (whole, whole.at_pixels([[1, 2], [5, 0]])):
            shots = Shots(sim)
            shots[0]
            for method in ("fork", "spawn"):
                loader = torch.utils.data.DataLoader(shots, num_workers=2, batch_size=None, timeout=60,
                                                     multiprocessing_context=method)
                for i, loaded in enumerate(loader):
                    torch.testing.assert_close(loaded, shots[i], rtol=0, atol=0)
                self.assertEqual(i, 5)


class Refusals(unittest.TestCase):
    def test_sentences(self):
        sim = small()
        t = torch.tensor(7e-9, dtype=f64)
        for call, kind, words in (
                (lambda: image(sim), ValueError, "at least one"),
                (lambda: image(sim, cell_aa=t), ValueError, "closest is 'cell_a'"),
                (lambda: image(sim, cell_a=t.reshape(1)), ValueError, r"'cell_a' has shape \(\), .*vmap renders a batch"),
                (lambda: image(sim, misset=t), ValueError, "'misset'"),
                (lambda: image(sim, cell_a=torch.tensor(3)), TypeError, "int64"),
                (lambda: image(sim, misset=torch.zeros(3, dtype=f64).to_sparse()), TypeError, "to_dense"),
                (lambda: image(None, cell_a=t), TypeError, "NoneType"),
                (lambda: image(sim, cell_a=torch.tensor(3j)), TypeError, "complex"),
                (lambda: image(sim, cell_a=t * float("nan")), ValueError, "'cell_a' is not a number"),
                (lambda: image(sim, cell_a=-t), ValueError, "'cell_a'"),
                (lambda: image(sim, cell_a=t, cell=torch.ones(6, dtype=f64)), ValueError, "twice"),
                (lambda: image(sim, phi_steps=t), ValueError, "no derivative"),
                (lambda: image(sim, cell_a=t, cell_b=t.to("meta")), ValueError, "meta"),
                (lambda: NBImage(sim, "cell_a", bounds={"cell_b": (0, 1)}), ValueError, "cell_b"),
                (lambda: NBImage(sim, "misset", bounds={"misset": ([-1, -1], [1, 1])}), ValueError, r"two arrays of the shape \(3,\)"),
                (lambda: NBImage(sim, "cell_a", bounds={"cell_a": 2}), ValueError, "two numbers"),
                (lambda: image(sim, cell_a="x"), TypeError, "'cell_a' is 'x'"),
                (lambda: NBImage(sim, "cell_a", bounds={"cell_a": (1, 2)}), ValueError, "bounds")):
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    def test_strides(self):
        sim = simulator("-detpixels_f", "8", "-detpixels_s", "6")
        grid = torch.tensor(sim.structure_factors[0])
        want = image(sim, F=grid)
        turned = grid.permute(2, 1, 0).contiguous().permute(2, 1, 0)
        self.assertFalse(turned.is_contiguous())
        torch.testing.assert_close(image(sim, F=turned), want, rtol=0, atol=0)
        x = torch.tensor(7e-9, dtype=f64, requires_grad=True)
        weights = torch.rand(8, 6, dtype=f64).T
        a, = torch.autograd.grad(image(sim, cell_a=x), x, weights)
        b, = torch.autograd.grad(image(sim, cell_a=x), x, weights.contiguous())
        self.assertEqual(a, b)


SMALL = "-cell 70 80 90 90 90 90 -default_F 100 -N 8 -lambda 1 -distance 80 -detpixels 64 -pixel 1 -oversample 1 -fluence 1e27"


class Frames(unittest.TestCase):
    def test_the_same_frames_for_any_number_of_workers(self):
        sim = nb.Simulator.from_flags(SMALL, threads=1)
        made = nbt.Frames(sim, lambda rng: {"misset": nb.random_misset(seed=rng)}, count=5, background=1.0)
        alone = list(torch.utils.data.DataLoader(made, batch_size=None))
        together = list(torch.utils.data.DataLoader(made, batch_size=None, num_workers=2))
        self.assertEqual(len(alone), 5)
        self.assertEqual((alone[0]["counts"].dtype, alone[0]["labels"].shape), (torch.int32, (64, 64)))
        for frame in alone:
            self.assertTrue(any(torch.equal(frame["counts"], other["counts"]) and torch.equal(frame["labels"], other["labels"])
                                and torch.equal(frame["parameters"]["misset"], other["parameters"]["misset"]) for other in together))

    def test_batches_are_those_of_a_loader(self):
        sim = nb.Simulator.from_flags(SMALL, threads=1)
        for device in (None, "cpu"):
            made, batches = (nbt.Frames(sim, lambda rng: {"misset": nb.random_misset(seed=rng)}, count=5, device=device, batch=batch)
                             for batch in (None, 2))
            loader = torch.utils.data.DataLoader(batches, batch_size=None)
            self.assertEqual(len(loader), 3)
            for own, theirs in zip(loader, torch.utils.data.DataLoader(made, batch_size=2), strict=True):
                torch.testing.assert_close(own, theirs)

    def test_noise_is_drawn_where_the_counts_are(self):
        sim = nb.Simulator.from_flags(SMALL, threads=1)
        draw = lambda rng: {"misset": nb.random_misset(seed=rng)}
        on_host, on_device, again = (next(iter(nbt.Frames(sim, draw, background=3.0, device=device))) for device in (None, "cpu", "cpu"))
        torch.testing.assert_close(on_device["counts"], again["counts"])
        for name in ("labels", "parameters"):
            torch.testing.assert_close(on_device[name], on_host[name])
        sim.set(misset=on_host["parameters"]["misset"].numpy())
        mean = torch.from_numpy(sim.image()) + 3
        for frame in (on_host, on_device):
            self.assertEqual(frame["counts"].dtype, torch.int32)
            pulls = (frame["counts"] - mean) / mean.sqrt()
            self.assertLess(abs(float(pulls.mean())), 0.1)
            self.assertLess(abs(float(pulls.std()) - 1), 0.05)


if __name__ == "__main__":
    unittest.main()
