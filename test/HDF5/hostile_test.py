#!/usr/bin/env python3
"""hostile_test.py [--files N] [--seed S]: NeXus files that are valid HDF5 and mean harm, made with h5py, read by
nanobragg.read_image: each is read as h5py reads it or refused in one sentence of printable text, in little time and
memory. Needs nanobragg in PYTHONPATH. Without --files only the files that have names are tried."""

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np

try:
    import h5py
except ImportError:
    print("skipped: there is no h5py; ./bootstrap build installs it where there is a network")
    sys.exit(0)

MEMORY = 3 << 30
SECONDS = 20  # reading ends after 10 by itself


def _reader(questions):
    """Reads files in a process of its own, whose memory is limited."""
    import nanobragg
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        path = questions.recv()
        try:
            questions.send(np.asarray(nanobragg.read_image(path)))
        except nanobragg.FileError as error:
            questions.send(str(error))


class Reader:
    def __init__(self):
        self.process = None

    def __call__(self, path):
        """The image, or the sentence of the refusal. AssertionError where it hangs or crashes."""
        if self.process is None:
            self.pipe, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(target=_reader, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.pipe.send(path)
        try:
            if self.pipe.poll(SECONDS + 20):
                return self.pipe.recv()
            problem = "hangs"
        except EOFError:
            problem = "crashes"
        self.stop()
        raise AssertionError(f"the reader {problem} on {path}")

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


READ = Reader()


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb-hostile-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "a.nxs")
        self.image = np.arange(64 * 48, dtype="i4").reshape(64, 48)

    def file(self, name="a.nxs"):
        file = h5py.File(os.path.join(self.folder, name), "w")
        file.create_group("entry/data")
        return file

    def refused(self, *words):
        begin = time.time()
        answer = READ(self.path)
        self.assertIsInstance(answer, str, "it was read")
        self.assertLess(time.time() - begin, SECONDS)
        self.assertTrue(answer.isprintable(), answer)
        for word in words:
            self.assertIn(word, answer)

    def read(self, image=None):
        answer = READ(self.path)
        self.assertNotIsInstance(answer, str, answer)
        np.testing.assert_array_equal(answer.reshape(self.image.shape), self.image if image is None else image)

    def test_ordinary_files_are_read(self):
        for options in ({}, {"chunks": (1, 64, 48)}, {"chunks": (1, 10, 7), "compression": "gzip"},
                        {"chunks": (1, 64, 48), "compression": "gzip", "shuffle": True, "fletcher32": True}):
            with self.file() as file:
                file.create_dataset("entry/data/data", data=self.image[None], **options)
            self.read()

    def test_links_in_the_folder_are_followed(self):
        with self.file("b.h5") as file:
            file["x"] = self.image[None]
            file["way"] = h5py.SoftLink("/x")
        with self.file() as file:
            file["entry/data/data"] = h5py.SoftLink("../there")
        self.refused()  # HDF5 has no ..
        with self.file() as file:
            file["entry/elsewhere"] = h5py.ExternalLink("b.h5", "/way")
            file["entry/data/data"] = h5py.SoftLink("/entry/elsewhere")
        self.read()

    def test_virtual_data_sets_are_read(self):
        with self.file("b.h5") as file:
            file["x"] = self.image
        with self.file() as file:
            layout = h5py.VirtualLayout((3, 64, 48), dtype="i4")
            layout[0] = h5py.VirtualSource("b.h5", "x", (64, 48))
            file.create_virtual_dataset("entry/data/data", layout, fillvalue=-1)
        self.read()

    def test_short_chunks(self):
        for short in (0, 4, 100, 64 * 48 * 4 - 1, 64 * 48 * 4 + 1, 64 * 48 * 400):
            with self.file() as file:
                data = file.create_dataset("entry/data/data", (1, 64, 48), "i4", chunks=(1, 64, 48), compression="gzip")
                data.id.write_direct_chunk((0, 0, 0), zlib.compress(bytes(short)))
            self.refused("not of its size")

    def test_chunk_without_a_filter(self):
        with self.file() as file:
            data = file.create_dataset("entry/data/data", (1, 64, 48), "i4", chunks=(1, 64, 48), compression="gzip")
            data.id.write_direct_chunk((0, 0, 0), bytes(100), filter_mask=1)
        self.refused("not of its size")

    def test_circle_of_virtual_data_sets(self):
        with self.file() as file:
            layout = h5py.VirtualLayout((1, 64, 48), dtype="i4")
            layout[0] = h5py.VirtualSource("b.nxs", "entry/data/data", (1, 64, 48))[0]
            file.create_virtual_dataset("entry/data/data", layout)
        shutil.copy(self.path, os.path.join(self.folder, "c.nxs"))
        with self.file("b.nxs") as file:
            layout = h5py.VirtualLayout((1, 64, 48), dtype="i4")
            layout[0] = h5py.VirtualSource("a.nxs", "entry/data/data", (1, 64, 48))[0]
            file.create_virtual_dataset("entry/data/data", layout)
        self.refused("virtual data set over virtual data sets")

    def test_circle_of_links(self):
        with self.file() as file:
            file["entry/x"] = h5py.SoftLink("/entry/data/data")
            file["entry/data/data"] = h5py.SoftLink("/entry/x")
        self.refused("circle")
        with self.file() as file:
            file["entry/data/data"] = h5py.ExternalLink("a.nxs", "/entry/data/data")
        self.refused("circle")

    def test_pipes(self):
        os.mkfifo(os.path.join(self.folder, "pipe"))
        with self.file() as file:
            file["entry/data/data"] = h5py.ExternalLink("pipe", "/x")
        self.refused("not a regular file")
        with self.file() as file:
            layout = h5py.VirtualLayout((1, 64, 48), dtype="i4")
            layout[0] = h5py.VirtualSource("pipe", "x", (64, 48))
            file.create_virtual_dataset("entry/data/data", layout)
        self.refused("not a regular file")

    def test_files_elsewhere(self):
        os.mkdir(os.path.join(self.folder, "in"))
        with self.file("b.h5") as file:
            file["x"] = self.image[None]
        self.path = os.path.join(self.folder, "in", "a.nxs")
        os.symlink("../b.h5", os.path.join(self.folder, "in", "c.h5"))
        for name in ("../b.h5", os.path.join(self.folder, "b.h5"), "/etc/passwd", "c.h5"):
            with self.file("in/a.nxs") as file:
                file["entry/data/data"] = h5py.ExternalLink(name, "/x")
            self.refused("not in its folder")
            with self.file("in/a.nxs") as file:
                layout = h5py.VirtualLayout((1, 64, 48), dtype="i4")
                layout[0] = h5py.VirtualSource(name, "x", (1, 64, 48))[0]
                file.create_virtual_dataset("entry/data/data", layout)
            self.refused("not in its folder")

    def test_external_storage(self):
        with self.file() as file:
            file.create_dataset("entry/data/data", (1, 8, 8), "u1", external=[("/etc/passwd", 0, 64)])
        self.refused("external storage")

    def test_bombs(self):
        side = 23000  # 2.1 GB of 4-byte numbers
        with self.file() as file:
            data = file.create_dataset("entry/data/data", (1, side, side), "i4", chunks=(1, side, side),
                                       compression="gzip")
        self.refused("too much for a file of")
        with self.file() as file:
            data = file.create_dataset("entry/data/data", (1, 64, 48), "i4", chunks=(1, 64, 48), compression="gzip")
            deflate = zlib.compressobj(9)
            zeros = b"".join([deflate.compress(bytes(1 << 20)) for _ in range(2000)] + [deflate.flush()])
            data.id.write_direct_chunk((0, 0, 0), zeros)
        self.refused("not of its size")
        with self.file() as file:
            file.create_dataset("entry/data/data", (1, side, side), "f8")
        self.refused()
        with self.file() as file:
            file.create_dataset("entry/data/data", (1, 5000, 5000), "i4", chunks=(1, 1, 1))
        self.refused("chunks")

    def test_other_things_than_numbers(self):
        for kind in (h5py.string_dtype(), h5py.vlen_dtype("i4"), np.dtype([("a", "i4"), ("b", "f8")]), h5py.ref_dtype,
                     "S8", np.complex128):
            with self.file() as file:
                file.create_dataset("entry/data/data", (1, 64, 48), dtype=kind)
            self.refused("numbers")

    def test_many_sources(self):
        import nanobragg
        with self.file() as file:
            for name in ("", "_weights"):
                file.create_dataset(f"entry/instrument/beam/incident_wavelength_1Dspectrum{name}", (10000000,), "f8",
                                    fillvalue=1, chunks=(10000,))
        with self.assertRaisesRegex(nanobragg.FileError, "each of which is a source"):
            nanobragg.Simulator.from_flags(f"-cell 50 50 50 90 90 90 -default_F 1 -N 5 -distance 100 -detpixels 8 "
                                f"--spectrum={self.path}")

    def test_valid_files_with_damaged_meaning(self):
        """A frame as h5py has it, one thing about it changed; then perhaps bytes of it."""
        for i in range(WORDS.files):
            draws = random.Random(WORDS.seed * 1000003 + i)
            with self.subTest(seed=WORDS.seed, file=i):
                expected = self.damaged(draws)
                begin = time.time()
                answer = READ(self.path)
                self.assertLess(time.time() - begin, SECONDS)
                if isinstance(answer, str):
                    self.assertTrue(answer.isprintable(), answer)
                elif expected is not None:
                    np.testing.assert_array_equal(answer.ravel(), expected.ravel())

    def damaged(self, draws):
        rank = draws.choice((2, 3, 3, 4))
        shape = [draws.choice((0, 1, 2, 3, 7, 20, 1 << 20, 1 << 33)) if draws.random() < 0.05 else draws.randint(1, 20)
                 for _ in range(rank)]
        kind = draws.choice(("i4", "u2", "f4", "f8", ">i4", ">f4", "u8", "i1", "f2"))
        options = {}
        if draws.random() < 0.8:
            options["chunks"] = tuple(draws.randint(1, max(1, min(n, 40))) for n in shape)
            if draws.random() < 0.7:
                options["compression"] = draws.choice(("gzip", "gzip", "lzf"))
            options["shuffle"] = draws.random() < 0.5
            options["fletcher32"] = draws.random() < 0.3
            if kind[-2] in "iu" and draws.random() < 0.1:
                options["scaleoffset"] = 0
        name = draws.choice(("entry/data/data", "entry/instrument/detector/data"))
        values = None
        with h5py.File(self.path, "w", libver=draws.choice(("earliest", "latest", "v108"))) as file:
            try:
                data = file.create_dataset(name, tuple(shape), kind, **options)
                if np.prod(shape, dtype=float) < 1e6:
                    values = np.random.default_rng(draws.getrandbits(32)).integers(0, 100, shape).astype(kind)
                    data[...] = values
                    values = values if rank == 2 else values[0]
                if options.get("chunks") and draws.random() < 0.5:
                    at = tuple(0 for _ in shape)
                    raw = draws.randbytes(draws.choice((0, 1, 3, 4, 11, 12, 100)))
                    if draws.random() < 0.5:
                        raw = zlib.compress(bytes(draws.choice((0, 1, 100, 10000))))
                    data.id.write_direct_chunk(at, raw, filter_mask=draws.choice((0, 0, 1, 2, 3, 7)))
                    values = None
                if draws.random() < 0.2:
                    data.resize(tuple(shape)) if data.maxshape == () else None
            except (ValueError, TypeError, OSError, IndexError):
                values = None
        if draws.random() < 0.5:
            with open(self.path, "r+b") as file:
                size = os.path.getsize(self.path)
                for _ in range(draws.randint(1, 4)):
                    # Behind the data's numbers: headers are what is believed.
                    file.seek(draws.randrange(size) if draws.random() < 0.3 else draws.randrange(min(size, 4096)))
                    file.write(draws.choice((draws.randbytes(1), b"\xff" * draws.randint(1, 8), bytes(draws.randint(1, 8)))))
                if draws.random() < 0.1:
                    file.truncate(draws.randrange(size))
            values = None
        return values


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-k")
    WORDS = parser.parse_args()
    try:
        unittest.main(argv=["hostile_test.py", *(["-k", WORDS.k] if WORDS.k else [])])
    finally:
        READ.stop()
