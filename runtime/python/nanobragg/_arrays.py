"""What users give, as arrays that the compiled part takes."""

import numpy


def doubles(value, what):
    """float64 one after another, without a copy where it is that already."""
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        if value.device.type != "cpu":
            raise ValueError(f"{what} is a tensor on {value.device}; give it as .cpu()")
        value = value.detach()
    try:
        array = numpy.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is no number and no array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} is an array of {array.dtype}; it has to be one of real numbers")
    shape = array.shape  # ascontiguousarray makes (1,) of ()
    return numpy.ascontiguousarray(array, dtype=numpy.float64).reshape(shape)


def names(wrt):
    """Parameters as the compiled part takes them: names and groups with commas between."""
    if isinstance(wrt, str):
        return ",".join(word.strip() for word in wrt.split(","))
    try:
        words = list(wrt)
    except TypeError:
        words = [wrt]
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"parameters are names, as 'cell' or ['cell_a', 'misset'], and {word!r} is none")
    if not words:
        raise ValueError("no parameter is named")
    return ",".join(words)
