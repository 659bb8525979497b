"""How the first small images of a process are made: interpreting them takes less time than
compiling kernels."""

# An interpreted sample takes 0.2 to 0.5 us, a kernel 0.15 s: images of so many samples, up to so
# many in all.
_OF_AN_IMAGE, _IN_ALL = 1e5, 5e5
_interpreted = 0.0


def how_to_make(samples, how):
    """Settings of a simulator for one image of so many samples; how: those that were asked for."""
    global _interpreted
    if how["device"] is not None or how["precision"] is not None or samples > _OF_AN_IMAGE or _interpreted + samples > _IN_ALL:
        return how
    _interpreted += samples
    return {**how, "engine": "interpreter"}
