"""MOSFLM matrices."""

import numpy


def read_mosflm_matrix(filepath, wavelength_A):
    """a*, b*, c* in 1/A of a file with the nine numbers of A times the wavelength."""
    with open(filepath) as file:
        words = [w for line in file for w in line.split("#")[0].split()]
    try:
        numbers = [float(w) for w in words]
    except ValueError as error:
        raise ValueError(f"{filepath}: {error}") from None
    if len(numbers) != 9:
        raise ValueError(f"{filepath}: a MOSFLM matrix must contain exactly 9 numeric values, and this file has {len(numbers)}")
    return tuple(numpy.array(numbers).reshape(3, 3).T / wavelength_A)


def reciprocal_to_real_cell(a_star, b_star, c_star):
    """a, b, c in A and alpha, beta, gamma in degrees."""
    real = numpy.linalg.inv(numpy.array([a_star, b_star, c_star])).T
    lengths = numpy.linalg.norm(real, axis=1)

    def angle(i, j):
        return numpy.degrees(numpy.arccos(numpy.clip(real[i] @ real[j] / (lengths[i] * lengths[j]), -1, 1)))

    return (*lengths, angle(1, 2), angle(2, 0), angle(0, 1))
