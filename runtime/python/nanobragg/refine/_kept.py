"""Work that is finished, in a folder, so that an interrupted run can go on."""

import hashlib
import io
import json
import os
import pickle
import re
import warnings
import zlib

from .. import _core
from .._errors import Warning
from ._files import digest, write_file

_NUMPY = {("numpy", "ndarray"), ("numpy", "dtype"), *((f"numpy.{core}.{name}", function) for core in ("core", "_core")
                                                      for name, function in (("multiarray", "_reconstruct"), ("multiarray", "scalar"),
                                                                             ("numeric", "_frombuffer")))}


class _Unpickler(pickle.Unpickler):
    """Makes arrays and objects of nb-refine, and calls nothing else."""

    def find_class(self, module, name):
        found = super().find_class(module, name) if (module, name) in _NUMPY or module.startswith("nanobragg.refine.") else None
        if found is None or ((module, name) not in _NUMPY and not hasattr(found, "__dataclass_fields__")):
            raise pickle.UnpicklingError(f"{module}.{name} is not kept")
        return found


class Kept:
    """A folder of results, each in a file whose name is a digest of all that the result follows
    from. folder: None keeps nothing. resume: results that are there are used; else they are
    removed."""

    def __init__(self, folder, resume):
        self.folder = folder
        if folder is None:
            return
        os.makedirs(folder, exist_ok=True)
        for name in () if resume else os.listdir(folder):
            if re.fullmatch(r"[0-9a-f]{64}\.kept", name):
                os.remove(os.path.join(folder, name))

    def get(self, key):
        """The result of a key, or None. One that is damaged is made again."""
        if not self.has(key):
            return None
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                content = file.read()
            if hashlib.sha256(content[32:]).digest() != content[:32]:
                raise pickle.UnpicklingError("its checksum is another")
            return _Unpickler(io.BytesIO(zlib.decompress(content[32:]))).load()
        except Exception as error:
            warnings.warn(f"{path}: is damaged ({error}); its still is refined again", Warning, stacklevel=2)
            return None

    def has(self, key):
        """Whether there is a result of a key."""
        path = self._path(key)
        return path is not None and os.path.exists(path)

    def put(self, key, result):
        if self.folder is not None:
            content = zlib.compress(pickle.dumps(result, 5), 1)  # a seventh of the size, in a tenth of a second
            write_file(self._path(key), hashlib.sha256(content).digest() + content)

    def _path(self, key):
        return None if self.folder is None else os.path.join(self.folder, f"{key}.kept")


def key_of(**what):
    """The key of a result that follows from numbers, texts and lists."""
    text = json.dumps([_core.version, what], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_or_none(path):
    """The digest of a file; None where it cannot be read, which is said when it is needed."""
    try:
        return digest(path)
    except OSError:
        return None
