"""Results of shots as files: what is finished stays when a run ends before its time."""

import dataclasses
import io
import json
import os

import numpy

from .._errors import FileError
from ._files import digest, write_file
from ._shot import Result

_ARRAYS = ("matrix", "cell", "cell_sigma", "orientation_sigma")


class Finished:
    """A folder with a file for each finished shot, and what they were asked: another question is refused.

    question: what all results depend on, of numbers, texts and lists. resume: results that are there are used.
    """

    def __init__(self, folder, question, resume):
        self.folder = folder
        asked = os.path.join(folder, "question.json")
        text = json.dumps(question, indent=1, sort_keys=True, default=str)
        if resume and os.path.exists(asked):
            with open(asked) as file:
                same_question(folder, file.read(), text)
        else:
            if os.path.isdir(folder):
                for name in os.listdir(folder):
                    if name.endswith(".npz"):
                        os.remove(os.path.join(folder, name))
            os.makedirs(folder, exist_ok=True)
            write_file(asked, text.encode())

    def _path(self, index):
        return os.path.join(self.folder, f"{index:06}.npz")

    def get(self, index):
        """The result of a shot, or None."""
        if not os.path.exists(self._path(index)):
            return None
        return _load(self._path(index))

    def put(self, result):
        write_file(self._path(result.index), _bytes(result))


def question_of(files, **numbers):
    """What results depend on: numbers, and the contents of files."""
    return {**numbers, **{name: digest(path) for name, path in files.items()}}


def same_question(path, before, now):
    """FileError, which names what differs, unless what was asked before (JSON, as what is asked now) is the same."""
    if before == now:
        return
    try:
        old, new = json.loads(before), json.loads(now)
        what = ", ".join(sorted(k for k in {*old, *new} if old.get(k) != new.get(k)))
    except (ValueError, AttributeError, TypeError):
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


def _load(path):
    try:
        with numpy.load(path) as file:
            arrays = dict(file)
        plain = json.loads(arrays.pop("plain").tobytes())
    except (ValueError, KeyError, OSError) as error:
        raise FileError(f"{path}: is no result of a shot, or it is damaged ({error}); remove it") from None
    pictures = [(tuple(hkl), *arrays[f"picture {i}"]) for i, hkl in enumerate(plain.pop("pictures"))]
    plain["values"] = {name: tuple(v) for name, v in plain["values"].items()}
    spots = {name.partition(" ")[2]: values for name, values in arrays.items() if name.startswith("spots ")}
    return Result(**plain, **{name: arrays.get(name) for name in _ARRAYS}, spots=spots, pictures=pictures,
                  history=list(arrays["history"]))
