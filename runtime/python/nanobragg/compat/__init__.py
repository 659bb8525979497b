"""Names of other simulators, on this one: ``compat.nanobrag_torch`` and ``compat.simtbx``."""
