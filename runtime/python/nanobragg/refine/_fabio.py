"""Images through fabio, where it is installed."""

import logging
import os
import re
import warnings

import numpy

from .._errors import FileError, printable


class _Log(logging.Handler):
    """Keeps fabio's log from the terminal while it is entered: of damaged files it says there that
    it has filled them up."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines, self._logger = [], logging.getLogger("fabio")

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __enter__(self):
        self._propagates, self._logger.propagate = self._logger.propagate, False
        self._logger.addHandler(self)

    def __exit__(self, *_):
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagates


def opened(path, name, number, content):
    """Frame ``number`` of a file: its module of fabio, the words of its header, and its numbers
    (slow, fast). None of formats that fabio does not know, or where it is not installed. content:
    the file's bytes. FileError."""
    try:
        import fabio
        from fabio.openimage import MAGIC_NUMBERS
    except ImportError:
        return None
    plain = os.path.splitext(name)[0] if name.endswith((".gz", ".bz2")) else name
    if not any(content.startswith(magic) for magic, _ in MAGIC_NUMBERS) and not plain.lower().endswith((".spe", ".mccd")):
        return None
    log = _Log()
    try:
        with log, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with fabio.open(name) as image:
                if not 0 <= number < image.nframes:
                    raise FileError(f"{path}: has {image.nframes} frames, counted from 0")
                frame = image.getframe(number) if number else image
                data, words = numpy.array(frame.data, float), {str(key): str(value) for key, value in frame.header.items()}
                kind = type(image).__name__.lower()
    except FileError:
        raise
    except Exception as error:
        raise FileError(f"{path}: fabio does not read it{f' ({printable(error)})' if str(error) else ''}; copy the file again, or look whether it is an "
                        "image") from None
    if damage := next((line for line in log.lines if re.search("incomplete|corrupt|truncated", line)), None):
        raise FileError(f"{path}: is damaged ({printable(damage)}); copy the file again")
    if data.ndim != 2 or not data.size:
        raise FileError(f"{path}: fabio reads {data.ndim} dimensions of it; an image has slow and fast")
    return kind, words, data


def read_pixels(path, name, number, content):
    """The numbers of opened() alone."""
    found = opened(path, name, number, content)
    return None if found is None else found[2]
