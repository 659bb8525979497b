"""Results of shots as files: what is finished stays when a run ends before its time."""

import dataclasses
import io
import json
import math
import os
import re
import struct
import warnings
import zipfile
import zlib

import numpy

from .._errors import DATA_ERRORS, FileError, Warning, printable
from ._files import digest, write_file
from ._shot import Result

_ARRAYS = ("matrix", "cell", "cell_sigma", "orientation_sigma")


class Finished:
    """A folder with a file for each finished shot, and what they were asked: another question is
    refused.

    question: what all results depend on, of numbers, texts and lists. resume: results that are
    there are used.
    """

    def __init__(self, folder, question, resume):
        self.folder = folder
        asked = os.path.join(folder, "question.json")
        text = json.dumps(question, indent=1, sort_keys=True, default=str)
        if resume and os.path.exists(asked):
            with open(asked, errors="replace") as file:
                same_question(folder, file.read(), text)
        else:
            os.makedirs(folder, exist_ok=True)
            for name in os.listdir(folder):
                if re.fullmatch(r"\d{6,}\.npz", name):
                    os.remove(os.path.join(folder, name))
            write_file(asked, text.encode())

    def _path(self, index):
        return os.path.join(self.folder, f"{index:06}.npz")

    def get(self, index, boxes):
        """The result of a shot that has so many boxes, or None. One that is damaged is none: it is
        made again."""
        if not os.path.exists(self._path(index)):
            return None
        try:
            return _load(self._path(index), index, boxes)
        except FileError as error:
            warnings.warn(str(error), Warning, stacklevel=2)
            return None

    def put(self, result):
        write_file(self._path(result.index), _bytes(result))


def question_of(files, **numbers):
    """The inputs that results depend on: numbers, and the contents of files."""
    return {**numbers, **{name: digest(path) for name, path in files.items()}}


def same_question(path, before, now):
    """FileError, which names what differs, unless what was asked before (JSON, as what is asked
    now) is the same."""
    if before == now:
        return
    try:
        old, new = json.loads(before), json.loads(now)
        what = ", ".join(sorted(k for k in {*old, *new} if old.get(k) != new.get(k)))
    except DATA_ERRORS:
        raise FileError(f"{path}: what its results were asked cannot be read; write to another folder") from None
    raise FileError(f"{path}: was refined with another {what}; go on with what it had, or write to another folder")


def _bytes(result):
    plain, arrays = {}, {"history": numpy.array(result.history)}
    for field in dataclasses.fields(result):
        if field.name in _ARRAYS:
            if getattr(result, field.name) is not None:
                arrays[field.name] = getattr(result, field.name)
        elif field.name not in ("spots", "pictures", "history"):
            plain[field.name] = getattr(result, field.name)
    plain["pictures"] = [list(hkl) for hkl, _, _ in result.pictures]
    for i, (_, data, model) in enumerate(result.pictures):
        arrays[f"picture {i}"] = numpy.array([data, model])
    arrays |= {f"spots {name}": values for name, values in result.spots.items()}
    content = io.BytesIO()
    numpy.savez(content, plain=numpy.frombuffer(json.dumps(plain).encode(), dtype="u1"), **arrays)
    return content.getvalue()


def load_arrays(path):
    """Arrays of an .npz that is not compressed, so that it takes no more memory than the file.
    DATA_ERRORS, or what zipfile raises."""
    with zipfile.ZipFile(path) as file:
        most = os.path.getsize(path)
        for entry in file.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > most:
                raise ValueError(f"{entry.filename} is compressed")
            with file.open(entry) as content:
                shape, dtype = _header(content)
                if dtype.itemsize * math.prod(shape) > most:
                    raise ValueError(f"{entry.filename} has more numbers than the file")
    with numpy.load(path, allow_pickle=False) as file:
        return dict(file)


def _header(content):
    version = numpy.lib.format.read_magic(content)
    read = numpy.lib.format.read_array_header_1_0 if version == (1, 0) else numpy.lib.format.read_array_header_2_0
    shape, _, dtype = read(content)
    return shape, dtype


def _load(path, index, boxes):
    try:
        arrays = load_arrays(path)
        plain = json.loads(arrays.pop("plain").tobytes())
        pictures = [(tuple(hkl), *arrays[f"picture {i}"]) for i, hkl in enumerate(plain.pop("pictures"))]
        plain["values"] = {name: tuple(v) for name, v in plain["values"].items()}
        spots = {name.partition(" ")[2]: values for name, values in arrays.items() if name.startswith("spots ")}
        result = Result(**plain, **{name: arrays.get(name) for name in _ARRAYS}, spots=spots, pictures=pictures,
                        history=list(arrays["history"]))
        _check(result, index, boxes)
        return result
    except (AssertionError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, *DATA_ERRORS) as error:
        raise FileError(f"{path}: is not a result of a shot, or it is damaged ({printable(error)}); the shot is refined "
                        "again") from None


def _check(result, index, boxes):
    """AssertionError or TypeError unless it is what put() was given."""
    assert result.index == index and result.status in ("refined", "rejected")
    for field in dataclasses.fields(Result):
        if isinstance(field.default, (str, int, float)):
            value = getattr(result, field.name)
            assert isinstance(value, str) if isinstance(field.default, str) else numpy.isfinite(float(value) * 1)
            assert not isinstance(value, str) or value.isprintable()
    for name, pair in result.values.items():
        value, sigma = pair
        assert name.isprintable() and numpy.isfinite(value + sigma)
    shapes = dict(zip(_ARRAYS, ((3, 3), (6,), (6,), (3,))))
    for name, shape in shapes.items():
        array = getattr(result, name)
        if result.status == "refined" or array is not None:
            assert array.shape == shape and numpy.isfinite(array).all()
    assert result.matrix is None or numpy.linalg.cond(result.matrix) < 1e6
    assert all(isinstance(v, (float, int)) for v in result.history)
    if result.spots:
        count = len(result.spots["box"])
        widths = {"hkl": 3, "predicted": 2, "observed": 2, **dict.fromkeys(("panel", "box", "resolution", "chi2", "model",
                                                                            "data"), None)}
        assert set(result.spots) == set(widths)
        for name, width in widths.items():
            array = result.spots[name]
            assert array.dtype.kind in ("iu" if name in ("hkl", "panel", "box") else "iuf") and array.shape == ((count,) if width is None else (count, width))
        assert all(0 <= box < boxes for box in result.spots["box"])
    assert result.spots or result.status == "rejected"
    for hkl, data, model in result.pictures:
        assert len(hkl) == 3 and all(isinstance(h, int) for h in hkl)
        assert data.ndim == 2 and data.dtype.kind == "f" and model.shape == data.shape
