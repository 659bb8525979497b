"""The Hessian of a fit in JAX: how well an image determines cell and orientation."""

import jax
import jax.numpy as jnp
import numpy as np

import nanobragg as nb
from nanobragg.jax import image

jax.config.update("jax_enable_x64", True)

sim = nb.Simulator.from_flags("-cell 70 80 90 90 90 90 -misset 10 20 30 -default_F 100 -N 8 -lambda 1 -distance 100 -detpixels 32 "
                              "-pixel 0.7 -fluence 1e28 -oversample 1")
data = sim.image()
names = ("cell_a", "cell_b", "misset_x", "misset_y", "misset_z")
start = jnp.array([sim[name] for name in names])
unit = jnp.array([nb.angstrom, nb.angstrom, nb.degree, nb.degree, nb.degree])


def loss(x):
    """Loss for Poisson noise; x is in A and degrees."""
    model = image(sim, **dict(zip(names, start + unit * x)))
    return 0.5 * jnp.sum((model - data)**2 / (data + 1))


hessian = jax.jit(jax.hessian(loss))(jnp.zeros(len(names)))
errors = jnp.sqrt(jnp.diag(jnp.linalg.inv(hessian)))
for name, error in zip(names, errors):
    print(f"{name:10} is known to {error:.2e} {'A' if 'cell' in name else 'degrees'}")
assert np.all(np.linalg.eigvalsh(hessian) > 0)
