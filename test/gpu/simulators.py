"""simulators.py LIBNANOBRAGG SCRIPT FLAGS...: simulators of the C interface, run as the script says;
prints sums of images, or statuses, as JSON."""

import ctypes
import json
import sys

library = ctypes.CDLL(sys.argv[1])
library.nb_last_error.restype = ctypes.c_char_p
script, flags = sys.argv[2], sys.argv[3:]


def check(status):
    if status:
        sys.exit(library.nb_last_error().decode())


def array(words):
    return len(words), (ctypes.c_char_p * len(words))(*(word.encode() for word in words))


def create():
    simulator = ctypes.c_void_p()
    check(library.nb_simulator_from_flags(*array(flags), ctypes.byref(simulator)))
    return simulator


def run(simulator, options=None):
    shape = (ctypes.c_int64 * 3)()
    check(library.nb_image_shape(simulator, shape))
    pixels = (ctypes.c_float * (shape[0] * shape[1] * shape[2]))()
    status = library.nb_run(simulator, options, pixels, ctypes.c_size_t(ctypes.sizeof(pixels)))
    return status, sum(pixels)


def total(simulator):
    status, sum_of_pixels = run(simulator)
    check(status)
    return sum_of_pixels


def repeat():
    first, second = create(), create()
    sums = [total(first), total(first), total(second)]
    library.nb_simulator_free(first)
    library.nb_simulator_free(second)
    return sums


def change():
    simulator = create()
    sums = [total(simulator)]
    for file in ("doubled.hkl", flags[flags.index("-hkl") + 1]):
        words = list(flags)
        words[words.index("-hkl") + 1] = file
        check(library.nb_set_flags(simulator, *array(words)))
        sums.append(total(simulator))
    library.nb_simulator_free(simulator)
    return sums


def cancel():
    simulator = create()
    library.nb_cancel(simulator)
    statuses = [run(simulator)[0], run(simulator)[0]]
    library.nb_simulator_free(simulator)
    return statuses


print(json.dumps({"repeat": repeat, "change": change, "cancel": cancel}[script]()))
