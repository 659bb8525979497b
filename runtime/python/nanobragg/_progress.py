"""A bar that shows how far a run is."""

import contextlib
import sys


@contextlib.contextmanager
def bar():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        def show(fraction):
            print(f"\r{fraction:6.1%}", end="" if fraction < 1 else "\n", file=sys.stderr, flush=True)
        yield show
        return
    with tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as display:
        def show(fraction):
            display.update(round(100 * fraction, 1) - display.n)
        yield show
