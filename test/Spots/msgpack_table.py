"""Reads a reflection table of DIALS without DIALS."""

import numpy as np

TYPES = {"int": ("<i4", 1), "double": ("<f8", 1), "vec3<double>": ("<f8", 3), "cctbx::miller::index<>": ("<i4", 3),
         "int6": ("<i4", 6), "std::size_t": ("<u8", 1), "bool": ("?", 1)}


def unpack(data):
    """The value of a msgpack, of the types that such a table has."""
    at = 0

    def take(count):
        nonlocal at
        at += count
        return data[at - count:at]

    def number(size):
        return int.from_bytes(take(size), "big")

    def value():
        kind = take(1)[0]
        if kind < 0x80:
            return kind
        if kind < 0x90:
            return {value(): value() for _ in range(kind & 15)}
        if kind == 0xde:
            return {value(): value() for _ in range(number(2))}
        if kind < 0xa0:
            return [value() for _ in range(kind & 15)]
        if kind < 0xc0:
            return take(kind & 31).decode()
        if 0xc4 <= kind <= 0xc6:
            return take(number(1 << (kind - 0xc4)))
        if 0xcc <= kind <= 0xcf:
            return number(1 << (kind - 0xcc))
        raise ValueError(f"unknown byte {kind:#x} at {at - 1}")

    return value()


def read_table(path):
    """Column name to array."""
    with open(path, "rb") as file:
        name, version, body = unpack(file.read())
    assert (name, version) == ("dials::af::reflection_table", 1), (name, version)
    columns = {}
    for column, (kind, (rows, raw)) in body["data"].items():
        dtype, width = TYPES[kind]
        assert rows == body["nrows"]
        columns[column] = np.frombuffer(raw, dtype).reshape((rows, width) if width > 1 else rows)
    return columns
