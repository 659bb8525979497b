"""Arrays that are handed over by DLPack, among them those in the memory of a GPU."""

from . import _core

CPU, CUDA, ROCM = 1, 2, 10


def is_on_device(value):
    """Has it DLPack's methods, and does it lie elsewhere than in this machine's memory?"""
    return hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] != CPU


class Handed:
    """An array whose shape is looked at when DLPack hands it out: NumPy and others read it as it
    is."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, **how):
        capsule = self._array.__dlpack__(**how)
        _core.check_dlpack(capsule)
        return capsule


class _Ordered(Handed):
    """Hands out the array when its producer has ordered its work before that of the default stream,
    for which the runtime waits before it reads."""

    def __dlpack__(self, **how):
        kind = self.__dlpack_device__()[0]
        if kind in (CUDA, ROCM):
            how["stream"] = 1 if kind == CUDA else 0  # the default stream, as each of them numbers it
        return super().__dlpack__(**how)


def ordered(value, what):
    """As the compiled part takes it; None stays None."""
    if value is None:
        return None
    if not is_on_device(value):
        raise TypeError(f"{what} is not an array in the memory of a GPU")
    if getattr(value, "requires_grad", False):
        value = value.detach()
    return _Ordered(value)
