"""Names that are on their way out: they work for one minor version more, with a warning
(docs/policy.md)."""

import warnings


def moved(module, names):
    """A module's ``__getattr__`` for names -> (what to use, the value's function)."""
    def getattr_(name):
        if name not in names:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        instead, value = names[name]
        deprecated(f"{module}.{name}", instead)
        return value()
    return getattr_


def deprecated(name, instead):
    """Warns the caller of a function of this name."""
    warnings.warn(f"{name} is deprecated and goes in the next minor version: use {instead}", DeprecationWarning, stacklevel=3)
