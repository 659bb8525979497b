"""Keeps the boxes around the spots of stills, and marks all other pixels as gaps: python cut.py FOLDER IMAGE..."""

import base64
import bz2
import hashlib
import os
import re
import sys

import numpy
from nanobragg.refine._images import read_image
from nanobragg.refine._spots import find_spots, usable_pixels
from nanobragg.simulator import unpacked

HALF = 12  # pixels; the background is what is about spots


def byte_offsets(image):
    """CBF's compression: differences of neighbours, in one byte, or in two or four after a mark."""
    steps = numpy.diff(image.ravel().astype("<i8"), prepend=0)
    length = numpy.where(numpy.abs(steps) < 128, 1, numpy.where(numpy.abs(steps) < 32768, 3, 7))
    at = numpy.cumsum(length) - length
    out = numpy.zeros(int(length.sum()), "u1")
    out[at] = numpy.where(length == 1, steps, 0x80).astype("u1")
    for some, mark, kind in ((length == 3, 1, "<i2"), (length == 7, 3, "<i4")):
        raw = steps[some].astype(kind).view("u1").reshape(-1, numpy.dtype(kind).itemsize)
        for i, byte in enumerate(raw.T):
            out[at[some] + mark + i] = byte
    out[at[length == 7] + 2] = 0x80  # -32768: four bytes follow
    return out.tobytes()


def cut(image, folder):
    header, content = read_image(image), unpacked(image)
    photons = numpy.nan_to_num(header.photons, nan=-1).astype("i8")
    spots, _ = find_spots(photons, usable_pixels(header.photons, header.cutoff).usable, 3)
    kept = numpy.zeros(photons.shape, bool)
    for fast, slow in spots.at.astype(int):
        kept[max(slow - HALF, 0):slow + HALF + 1, max(fast - HALF, 0):fast + HALF + 1] = True
    packed = byte_offsets(numpy.where(kept, photons, -1))
    start = content.index(b"\x0c\x1a\x04\xd5") + 4
    size = int(re.search(rb"X-Binary-Size: *(\d+)", content)[1])
    head = re.sub(rb"X-Binary-Size: *\d+", b"X-Binary-Size: %d" % len(packed), content[:start])
    head = re.sub(rb"Content-MD5: *\S+", b"Content-MD5: " + base64.b64encode(hashlib.md5(packed).digest()), head)
    with open(os.path.join(folder, os.path.basename(image)), "wb") as file:
        file.write(bz2.compress(head + packed + content[start + size:]))


if __name__ == "__main__":
    for path in sys.argv[2:]:
        cut(path, sys.argv[1])
