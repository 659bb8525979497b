"""Damages the meaning of files that stay valid: trees of dictionaries and lists, as JSON and msgpack have them, arrays,
and numbers in text."""

import copy
import io

import numpy as np

ODD = (None, [], {}, "", "x", "\0", "a\x1b[31m", -1, 0, 1.5, True, 10**30, -10**12, float("nan"), float("inf"), 1e308,
       [[]], [None] * 3, {"a": 1}, ["x"], [1e300] * 3, [float("nan")] * 3, list(range(7)))


def places(tree, path=()):
    """All places in a tree."""
    if path:
        yield path
    if isinstance(tree, (dict, list)):
        for key, value in (tree.items() if isinstance(tree, dict) else enumerate(tree)):
            yield from places(value, (*path, key))


def damage_tree(tree, draws):
    """Changes one value, or leaves it out."""
    *way, last = draws.choice(list(places(tree)))
    for key in way:
        tree = tree[key]
    if draws.random() < 0.2:
        del tree[last]
    elif isinstance(tree[last], bytes) and draws.random() < 0.7:
        content = bytearray(tree[last])
        for _ in range(draws.randint(1, 5)):
            if content:
                content[draws.randrange(len(content))] = draws.choice((0, 255, draws.randrange(256)))
        tree[last] = bytes(content[:draws.choice((None, None, -1, 4))])
    else:
        tree[last] = copy.deepcopy(draws.choice(ODD))


def damaged_bytes(content, draws):
    """Other bytes, perhaps without an end."""
    content = bytearray(content)
    for _ in range(draws.randint(1, 6)):
        content[draws.randrange(len(content))] = draws.randrange(256)
    return bytes(content[:draws.choice((len(content), len(content), draws.randrange(len(content))))])


def damaged_text(text, draws):
    """One word is another one, a line stands twice or is missing."""
    lines = text.split("\n")
    at = draws.randrange(len(lines))
    words = lines[at].split(" ")
    choice = draws.random()
    if choice < 0.7:
        words[draws.randrange(len(words))] = draws.choice(("", "x", "-1", "0", "nan", "inf", "1e308", "-1e308", "1e-320", "99999999999",
                                                         "2147483648", "1e5", "\x1b[2J", "\u202e", "0x10", "1,5", "1 2 3", "#"))
        lines[at] = " ".join(words)
    elif choice < 0.85:
        lines[at:at] = [lines[at]] * draws.choice((1, 3))
    else:
        del lines[at]
    return "\n".join(lines)


def damaged_npy(array, draws):
    """An .npy whose header and numbers do not go together, or that has other numbers."""
    content = io.BytesIO()
    if draws.random() < 0.4:
        np.save(content, array.astype(draws.choice(("f4", "f8", ">f4", "i4", "u1", "?"))))
        return content.getvalue()
    kind = draws.choice(("f4", "f8", "i4", "u1", "c16", "S3", "?", ">f8", "<i8"))
    shape = draws.choice((array.shape, array.shape[:1], array.shape + (1,), (1 << 31, 1 << 31), (1 << 62, 4), (0, 5), (-1, 8), (10**9,),
                         tuple(reversed(array.shape))))
    version = draws.choice(((1, 0), (2, 0), (3, 0)))
    header = {"descr": draws.choice((np.dtype(kind).str, "|O", "<f4", "<f16", [("a", "<f4")], "x")),
              "fortran_order": draws.choice((False, False, True)), "shape": shape}
    text = repr(header).encode() + b" " * draws.randrange(64) + b"\n"
    if draws.random() < 0.3:
        text = damaged_bytes(text, draws)
    length = draws.choice((len(text), len(text), len(text), 0, 60000, 1)).to_bytes(2 if version[0] == 1 else 4, "little")
    content.write(b"\x93NUMPY" + bytes(version) + length + text)
    values = array.astype("c16" if kind == "c16" else "f8")
    if draws.random() < 0.4:
        values.flat[:3] = draws.choice((0, -1, np.nan, np.inf, 1e308))
    content.write(values.tobytes()[:draws.choice((None, None, 7, 0))])
    return content.getvalue()
