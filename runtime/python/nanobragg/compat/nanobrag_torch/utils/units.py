"""Units of the port: A inside crystals, m at detectors, rad."""

import math


def mm_to_angstroms(x):
    return x * 1e7


def meters_to_angstroms(x):
    return x * 1e10


def angstroms_to_meters(x):
    return x * 1e-10


def degrees_to_radians(x):
    return x * (math.pi / 180)


def radians_to_degrees(x):
    return x * (180 / math.pi)


def angstroms_to_mm(x):
    return x * 1e-7
