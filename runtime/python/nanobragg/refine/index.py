"""From diffraction images and a model of the crystal to refined stills, without other input."""

import dataclasses
import functools
import os
import time

import numpy

from .._errors import reason
from . import _files, _report, _still_files
from ._amplitudes import Amplitudes
from ._claim import Claim
from ._crystal import cell_of
from ._dealing import Dealer, check_run
from ._explain import MOST_SETS, Freedom
from ._index_page import page
from ._indexing import real_basis
from ._kept import Kept, key_of
from ._lattices import MOST_LATTICES
from ._merging import Observations, merge
from ._model import Model
from ._response import Response
from ._stated_geometry import Geometry
from ._still import Still, matrix_of, used, with_pixels, without_images, without_pixels
from ._still_fit import distance_of, fit_still, in_units
from ._still_search import Search, search_still
from ._still_table import lattice_rows, rows
from ._threads import one_blas_thread
from ._together import bring_together, compare_fit
from ._verdict import verdict

_CHAINED = ("distance", "centre", "tilt", "cell")  # numbers that stills of one crystal share, held while their pixels are fitted


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The further arguments of index(), which describes them."""

    least: int = 3
    pixels: bool = True
    held: tuple = ()
    restrain: dict = None
    sets: int = MOST_SETS
    lattices: int = MOST_LATTICES
    factors: bool = False
    tested: tuple = ()
    geometry: str = None
    noise: tuple = None
    response: Response = Response()
    chain: bool = False
    full: bool = False

    def fit(self):
        """The fit to pixels: Freedom and Response."""
        held = (*self.held, *_CHAINED) if self.chain else tuple(self.held)
        return Freedom(held, in_units(self.held, self.restrain or {}, response=self.response), self.sets), self.response

    def search(self, path):
        """The search for the crystal of a model's file."""
        model = Model.read(path, solvent=0)
        if self.pixels and model.grid is None:
            raise ValueError(f"'{path}' has no structure factors, by which pixels are explained; give a file with them, or fit positions alone (--positions-only, pixels=False)")
        return Search(model, self.least, None if self.geometry is None else Geometry.read(self.geometry), self.noise, self.lattices)

    def check(self, shard, out, resume):
        """Raises ValueError if these arguments contradict each other, or those of the run."""
        check_run(out, resume, shard)
        sharded = shard[1] > 1
        for wrong, why in (
                (self.lattices < 1, f"lattices is {self.lattices}; a still has one at least"),
                (self.chain and "distance" in (self.restrain or {}), "stills of a chain share their distance; leave its restraint out"),
                (sharded and out is None, "shards share a folder; give it as out="),
                (sharded and self.factors, "structure factors of all images are not refined on a shard; refine them after all shards"),
                (sharded and self.chain, "a chain is refined as a whole; leave the shard out")):
            if wrong:
                raise ValueError(why)


class Watch:
    """Receives the progress of index(). Override the methods of interest."""

    def found(self, still):
        """A still was searched: it is indexed, or rejected."""

    def done(self, still):
        """All that was requested for a still is finished."""

    def say(self, sentence):
        """A message that concerns all stills."""


@one_blas_thread
def index(paths, model, *, workers=None, out=None, resume=False, shard=(0, 1), comm=None, watch=None, **wanted):
    """Finds spots on stills, indexes each with the known cell, and fits orientation and detector to
    the positions of the spots; then fits their pixels, with the model's structure factors.

    ``paths``
        Diffraction images (CBF, SMV, NXmx, or another format of fabio or dxtbx).
    ``model``
        A PDB, mmCIF or MTZ file, or a text with the numbers of a cell (A, degrees) and a space
        group, which suffices for positions.
    ``workers``
        Number of processes; None: one for each processor.
    ``out``
        A folder for the results; its subfolder finished/ stores the result of each image as soon
        as it is known.
    ``resume``
        Uses the results in finished/ that were made from the same images and arguments.
    ``shard``
        (i, n): every n-th image, from image i on. All shards have the same ``out`` and write only
        finished/. Run each shard twice: the first run indexes its images, and the second fits
        their pixels with the detector that all images share, once all shards are indexed. A call
        without ``shard``, with ``resume``, then writes the results.
    ``comm``
        An mpi4py communicator, in place of workers: all ranks call this; the first returns the
        stills, the others an empty list.
    ``watch``
        A Watch.

    Further arguments:

    ``least``
        Pixels of the smallest spot (3).
    ``pixels``
        Whether to fit pixels (True).
    ``held``
        Names of parameters of that fit that are held at their start.
    ``restrain``
        {name: sigma}, restraints of others to their start.
    ``sets``
        Largest number of sets of mosaic blocks of a crystal (4).
    ``lattices``
        Largest number of crystals on an image (3); each further one is searched for among the
        remaining spots.
    ``factors``
        Whether to refine structure factors, too, on all stills except those whose numbers are in
        ``tested``.
    ``geometry``
        An .expt with the detector and wavelength of all images, in place of their headers.
    ``noise``
        (gain, zero): an image contains photons * gain + zero, and has the noise of these photons.
        Give a ``zero`` below that of the detector to model read-out noise, too. None: (1, 0) for
        detectors that count photons, and measured from the pixels for others.
    ``response``
        The Response with which the fit of the detector's response begins.
    ``chain``
        Whether the images are stills of one crystal that was rotated from each to the next, in
        their order. These share the cell and the detector, and each but the first has a Turn.
    ``full``
        Whether to write corrected intensities; see _still_files.integrated.

    Returns a Still for each image; one that cannot be read or indexed contains the reason.
    """
    paths, wanted, watch = [os.fspath(path) for path in paths], Wanted(**wanted), watch or Watch()
    if not paths:
        raise ValueError("there are no images")
    wanted.check(shard, out, resume)
    how, (part, parts) = wanted.fit(), shard
    ranks = comm if comm is not None and comm.Get_size() > 1 else None
    if ranks and ranks.Get_rank():
        Dealer(ranks, None).serve()
        return []
    with Dealer(ranks, workers) as deal:
        search = wanted.search(model)
        claim = None if out is None else Claim(out, together=parts > 1)
        kept = Kept(None if out is None else os.path.join(out, "finished"), resume or parts > 1)
        one = functools.partial(_one, paths=paths, search=search, kept=kept)
        stills = []
        for still in deal(one, list(range(part, len(paths), parts)), lambda number, why: Still(number, paths[number], "rejected", why)):
            stills.append(still)
            watch.found(still)
            if not (wanted.pixels and still.status == "indexed"):
                watch.done(still)
        if parts > 1:
            others = [number for number in range(len(paths)) if number % parts != part] if wanted.pixels else []
            missing = sum(not kept.has(search.key(paths[number])) for number in others)
            if missing:
                watch.say(f"{missing} images of other shards are not indexed yet; run this shard again when they are")
            if missing or not wanted.pixels:
                return sorted(stills, key=lambda still: still.index)
            stills += map(one, others)
        stills.sort(key=lambda still: still.index)
        crystal = bring_together(stills, model, search, wanted)
        if wanted.pixels:
            _explain(stills, crystal, deal, how, kept, watch.done, lambda still: still.index % parts == part)
        if parts > 1:
            return stills[part::parts]
        if wanted.factors:
            _refine_factors(stills, crystal, set(wanted.tested), deal, how, kept)
    if out is not None:
        write(out, stills, crystal, kept, set(wanted.tested), wanted.full)
        claim.release()
    return stills


def _one(index, *, paths, search, kept):
    key = search.key(paths[index]) if kept.folder else ""
    if (still := kept.get(key)) is not None:
        still.index, still.image = index, paths[index]
        return without_pixels(still, kept)
    still = Still(index, paths[index], key=key)
    with still.timed():
        search_still(still, search)
    kept.put(key, still)
    return without_pixels(still, kept)


def _fitted(number, *, stills, model, how, kept, keys):
    """The number of a still; its Explained, or the reason why there is none; and the seconds."""
    begin = time.perf_counter()
    if (found := kept.get(keys[number])) is not None:
        return number, without_images(found[0], kept), found[1]
    try:
        result = fit_still(with_pixels(stills[number], kept), model, *how)
    except Exception as error:  # whatever it is, it costs this image alone
        result = reason(error)
    seconds = time.perf_counter() - begin
    kept.put(keys[number], (result, seconds))
    return number, without_images(result, kept), seconds


def _explain(stills, model, deal, how, kept, done=lambda still: None, mine=lambda still: True):
    """Fits the pixels of the indexed stills for which ``mine`` is true. deal: a Dealer. kept:
    finished results. done: is called with each still."""
    good = [still for still in stills if still.status == "indexed"]
    # The shared tilts and modules follow from all stills.
    of_all = key_of(how=how, model=model.digest(), stills=[still.key for still in stills]) if kept.folder else ""
    of_each = [key_of(all=of_all, index=still.index) for still in good]
    one = functools.partial(_fitted, stills=good, model=model, how=how, kept=kept, keys=of_each)
    numbers = [number for number, still in enumerate(good) if mine(still)]
    for number, result, seconds in deal(one, numbers, lambda number, why: (number, why, 0.0)):
        still = good[number]
        still.seconds += seconds
        still.explained_key = of_each[number]
        still.explained_spots = used(still, model)
        if isinstance(result, str):
            still.why = f"its pixels were not explained: {result}"
        else:
            first = still.explained is None
            still.explained = result
            if numpy.isfinite(result.rms_px):
                still.rms_px = result.rms_px
            if first:  # structure factors are the model's own
                compare_fit(still, model)
            still.distance_mm = distance_of(still)
        done(still)


def _observations(stills, amplitudes):
    """The Observations on stills whose pixels are fitted; cell and wavelength of each crystal."""
    crystals = [(still, k) for still in stills for k in range(len(still.lattices))]
    every = [still.explained.integrated.chosen(still.explained.integrated.lattice == k) for still, k in crystals]
    return (Observations(amplitudes, every, [still.index for still, _ in crystals]),
            [(cell_of(matrix_of(still, k)).tolist(), float(still.header.wavelength)) for still, k in crystals])


def _refine_factors(stills, model, tested, deal, how, kept):
    """Fits the pixels of all stills again, with structure factors that follow from the model and
    from the stills that are not bad and whose numbers are not in ``tested``."""
    good = [still for still in stills if still.explained]
    training = [still for still in good if _merges(still, tested) and len(still.explained.integrated.hkl)]
    if not training:
        raise ValueError("no still is left to refine structure factors on; give more images, or test fewer of them")
    for still in good:
        still.chi2_model = still.explained.chi2
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    merged = merge(_observations(training, amplitudes)[0], amplitudes, numpy.linalg.inv(real_basis(model.cell)))
    row = merged.of_amplitude
    logarithms = numpy.where(merged.seen[row] > 0, numpy.log(merged.F_post[row] / amplitudes.start), 0)
    _explain(good, dataclasses.replace(model, grid=amplitudes.values(logarithms)), deal, how, kept)


def _merges(still, tested):
    """Whether structure factors follow from a still: intensities of bad ones are those of other
    reflections."""
    return still.index not in tested and verdict(still)[0] != "bad"


def write(out, stills, model, kept, tested=(), full=False):
    """Writes tables, lists and pages of stills. Stills whose pixels are fitted are merged, except
    bad ones and those whose numbers are in ``tested``. kept: the store of their pixels. full: see
    _still_files.integrated."""
    os.makedirs(out, exist_ok=True)
    good, pages = [still for still in stills if still.status == "indexed"], []
    if good:
        _still_files.write_indexed(out, good, model)
    if explained := [still for still in good if still.explained]:
        _still_files.write_integrated(out, explained, model, full)
        pages = _write_merged(out, [still for still in explained if _merges(still, tested)], model)
    table = list(rows(stills))
    _report.write_table(os.path.join(out, "shots.csv"), table)
    _report.write_table(os.path.join(out, "lattices.csv"), list(lattice_rows(stills)))
    _report.write_page(os.path.join(out, "report.html"), "Indexed images", page(stills, table, pages, kept))


def _write_merged(out, stills, model):
    """Writes structure_factors.mtz, unmerged.mtz and merging.csv, and returns parts of the page."""
    amplitudes = Amplitudes(model.grid, model.lowest, model.hall)
    observations, crystals = _observations(stills, amplitudes)
    if not len(observations.row):
        return []
    merged = merge(observations, amplitudes, numpy.linalg.inv(real_basis(model.cell)))
    wavelength = float(numpy.mean([wavelength for _, wavelength in crystals]))
    _files.write_file(os.path.join(out, "structure_factors.mtz"), merged.content(model.cell, wavelength))
    _files.write_file(os.path.join(out, "unmerged.mtz"), observations.content(merged.space_group, model.cell, wavelength, crystals))
    table = list(merged.shells())
    _report.write_table(os.path.join(out, "merging.csv"), table)
    noise, relative, tail = numpy.exp(observations.errors)
    return [_report.element("h2", "Merged"), _report.headed(table),
            _report.element("p", f"Errors of intensities: {noise:.3g} times those of photons, {100 * relative:.2g} % of the intensity, and "
                                 f"{100 * tail:.2g} % times the root of -2 log(partiality).")]
