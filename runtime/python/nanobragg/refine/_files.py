"""Experiment lists and reflection tables of DIALS."""

import contextlib
import copy
import hashlib
import json
import os
import re
import secrets

import numpy

from .._errors import DATA_ERRORS, FileError, printable
from ..simulator import read_image
from . import _nexus

_TYPES = {"int": ("<i4", 1), "bool": ("u1", 1), "double": ("<f8", 1), "std::size_t": ("<u8", 1), "int6": ("<i4", 6),
          "vec2<double>": ("<f8", 2), "vec3<double>": ("<f8", 3), "cctbx::miller::index<>": ("<i4", 3)}


INDEXED = 1 | 2 | 4  # flags of a reflection that was predicted, observed and indexed
INTEGRATED = 1 | 256 | 512  # and of one that was predicted and integrated, by a sum and by its profile

# Columns that are used: kinds of numbers, how many in a row.
_USED = {"id": ("i", 1), "panel": ("iu", 1), "bbox": ("i", 6), "miller_index": ("i", 3), "xyzobs.px.value": ("f", 3),
         "xyzcal.px": ("f", 3)}


def _msgpack():
    try:
        import msgpack
    except ImportError:
        raise ImportError("reflection tables need msgpack: pip install msgpack") from None
    return msgpack


def read_reflections(path):
    """Columns of a .refl by name, (reflections,) or (reflections, n); those of types that are not
    known are left out."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"\x80\x02"):
            raise FileError(f"{path}: is a table of a DIALS before 2.0 (pickled); load and save it by the DIALS of today")
        table = _msgpack().unpackb(content, raw=False, strict_map_key=False)
    except (ImportError, FileError):
        raise
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except Exception as error:
        raise FileError(f"{path}: is not a reflection table of DIALS (.refl): {printable(error)}") from None
    try:
        kind, _, content = table
        rows, columns = content["nrows"], {}
        assert kind == "dials::af::reflection_table"
        for name, (kind, (count, data)) in content["data"].items():
            if kind in _TYPES:
                dtype, width = _TYPES[kind]
                column = numpy.frombuffer(data, dtype=dtype)
                columns[name] = column.reshape(count, width) if width > 1 else column
                assert len(columns[name]) == rows
    except (AssertionError, *DATA_ERRORS):
        raise FileError(f"{path}: is not a reflection table of DIALS (.refl), or it is damaged") from None
    for name in ("id", "panel", "bbox", "miller_index"):
        if name not in columns:
            raise FileError(f"{path}: has no column {name}; index the images and keep their shoeboxes' boxes")
    for name, (kinds, width) in _USED.items():
        if name in columns and (columns[name].dtype.kind not in kinds or columns[name].size != rows * width):
            raise FileError(f"{path}: its column {name} has not the type that DIALS gives it; it is damaged")
    return columns


def write_reflections(path, columns, identifiers=()):
    """The other way round. The file is there when it is complete. identifiers: of the experiments
    that have ids from 0."""
    data = {}
    for name, column in columns.items():
        width = 1 if column.ndim == 1 else column.shape[1]
        kind = next(kind for kind, (dtype, n) in _TYPES.items()
                    if numpy.dtype(dtype).kind == column.dtype.kind and n == width
                    and (numpy.dtype(dtype).itemsize == column.dtype.itemsize)
                    and (kind != "cctbx::miller::index<>" or name == "miller_index"))
        data[name] = [kind, [len(column), numpy.ascontiguousarray(column, dtype=_TYPES[kind][0]).tobytes()]]
    rows = len(next(iter(columns.values())))
    write_file(path, _msgpack().packb(["dials::af::reflection_table", 1, {"identifiers": dict(enumerate(identifiers)), "nrows": rows, "data": data}],
                                  use_bin_type=True))


def read_experiments(path):
    """The experiment list as DIALS's dictionary."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            content = json.load(file)
        assert content["__id__"] == "ExperimentList"
        for name in ("experiment", "crystal", "detector", "beam"):
            assert all(isinstance(one, dict) for one in content[name]) and isinstance(content[name], list)
        assert all(isinstance(one, dict) for one in content.setdefault("imageset", []))
        for detector in content["detector"]:
            assert isinstance(detector["panels"], list) and detector["panels"]
            for panel in detector["panels"]:
                low, high = panel.get("trusted_range") or (0.0, 0.0)
                assert float(low) <= float(high)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except (AssertionError, *DATA_ERRORS):
        raise FileError(f"{path}: is not an experiment list of DIALS (.expt), or it is damaged") from None
    return content


def image_of(experiments, index, path):
    """Name of the image of an experiment, for read_image."""
    experiment = experiments["experiment"][index]
    try:
        images = experiments["imageset"][experiment["imageset"]]
        first = images["images"][0]
        frame = (images.get("single_file_indices") or [None])[0]
        assert isinstance(first, str) and "\0" not in first and isinstance(frame, (int, type(None)))
    except (AssertionError, *DATA_ERRORS):
        raise FileError(f"{path}: experiment {index} names no image (an imageset with 'images'); give images=") from None
    name = os.path.join(os.path.dirname(os.path.abspath(path)), first)
    single = name.endswith((".cbf", ".img", ".npy")) or frame is None
    return name if single else f"{name}:{frame}"


def read_named_image(name):
    """As read_image; for a name that stands in a file, which may lead to a pipe without a writer.
    """
    file = re.sub(r":\d+$", "", name)
    if os.path.exists(file) and not os.path.isfile(file):
        raise FileError(f"{file}: is not a regular file, and an experiment list names it as an image")
    return read_image(name)


def in_panels(image, panels, name):
    """An image as (panel, slow, fast), each panel in the first corner of a frame as large as the
    largest, nan beyond it; that of one panel as it is. panels: DIALS's dictionaries. name: of the
    image's file, which may say where panels lie in it.
    """
    if len(panels) == 1:
        return image
    sizes = numpy.array([panel["image_size"][::-1] for panel in panels])
    if image.ndim == 3 and len(image) != len(panels):
        image = image.reshape(-1, image.shape[-1])
    if image.ndim == 2:
        begins = _begins(image, panels, sizes, name)
        image = [image[slow:, fast:] for slow, fast in begins] if begins is not None else ()
    if len(image) != len(panels) or any((part.shape < size).any() for part, size in zip(image, sizes)):
        raise FileError(f"{name}: is not an image of the {len(panels)} panels of its experiment; write where they lie in it as their "
                        "raw_image_offset, fast and slow")
    parts = numpy.full((len(panels), *sizes.max(axis=0)), numpy.nan)
    for frame, part, (slow, fast) in zip(parts, image, sizes):
        frame[:slow, :fast] = part[:slow, :fast]
    return parts


def _begins(image, panels, sizes, name):
    """Where panels begin (slow, fast) in one image of all; None where nothing says it."""
    said = numpy.array([panel.get("raw_image_offset", (0, 0))[::-1] for panel in panels])
    if len(numpy.unique(said, axis=0)) == len(panels):
        return said
    if (modules := _nexus.module_origins(name)) is not None:
        return modules if len(modules) == len(panels) else None
    # One below another, as long as they are or all alike.
    if len(image) == sizes[:, 0].sum():
        return numpy.column_stack([numpy.cumsum(sizes[:, 0]) - sizes[:, 0], 0 * sizes[:, 0]])
    each, rest = divmod(len(image), len(panels))
    return None if rest else numpy.column_stack([each * numpy.arange(len(panels)), 0 * sizes[:, 0]])


def write_experiments(path, experiments, matrices, panels=None, read_from=None):
    """The list with other crystals. read_from: the file it was read from, whose folder names of
    images are relative to; those written are absolute. matrices: {index: columns a*, b*, c* in
    1/A}. panels: corners (panels, 3) in m and axes fast, slow, normal (panels, 3, 3) of every
    detector, whose hierarchy is then left out; None: as they are.
    """
    content = copy.deepcopy(experiments)
    if read_from is not None:
        folder = os.path.dirname(os.path.abspath(read_from))
        for images in content.get("imageset", []):
            for name in ("images", "template", "mask", "gain", "pedestal", "dx", "dy"):
                value = images.get(name)
                if isinstance(value, list):
                    images[name] = [os.path.join(folder, v) if isinstance(v, str) else v for v in value]
                elif isinstance(value, str) and value:
                    images[name] = os.path.join(folder, value)
    if panels is not None:
        for detector in content["detector"]:
            detector.pop("hierarchy", None)
            for panel, corner, axes in zip(detector["panels"], *panels):
                panel |= {"origin": [float(v) * 1e3 for v in corner], "fast_axis": [float(v) for v in axes[0]],
                          "slow_axis": [float(v) for v in axes[1]]}
    for index, matrix in matrices.items():
        experiment = content["experiment"][index]
        crystal = copy.deepcopy(content["crystal"][experiment["crystal"]])
        for name, vector in zip("abc", numpy.linalg.inv(matrix)):
            crystal[f"real_space_{name}"] = [float(v) for v in vector]
        for name in ("A_at_scan_points", "B_covariance", "B_covariance_at_scan_points"):
            crystal.pop(name, None)
        experiment["crystal"] = len(content["crystal"])
        content["crystal"].append(crystal)
    with_crystal = [e for e in content["experiment"]
                    if isinstance(e.get("crystal"), int) and 0 <= e["crystal"] < len(content["crystal"])]
    used = sorted({e["crystal"] for e in with_crystal})
    content["crystal"] = [content["crystal"][i] for i in used]
    for experiment in with_crystal:
        experiment["crystal"] = used.index(experiment["crystal"])
    write_file(path, json.dumps(content, indent=1).encode())


def digest(path):
    """A text that changes with the file's content."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None


def write_file(path, content):
    """Bytes into a file, which is there when it is complete; of several processes that write it,
    the last one's. FileError."""
    part = f"{path}.{secrets.token_hex(8)}.part"
    try:
        # A file of this name that is there, or a link, is not opened.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
            file.write(content)
        os.replace(part, path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); free some space, or give another folder") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
