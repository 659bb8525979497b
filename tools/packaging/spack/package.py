"""Recipe for Spack: spack repo create, copy this file to packages/nanobragg_mlir/package.py.

Spack has no gemmi: what it builds reads no MTZ, mmCIF and PDB files."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class NanobraggMlir(CMakePackage):
    """A compiler for X-ray diffraction experiments: images of crystals and their derivatives."""

    license("MIT")

    # The archive that tools/release makes, in the current folder: spack install --no-checksum
    # nanobragg-mlir. From a clone: spack dev-build nanobragg-mlir@0.2.0.
    manual_download = True
    url = f"file://{os.getcwd()}/nanobragg-mlir-0.2.0.tar.gz"
    version("0.2.0")

    generator("ninja")

    variant("mpi", default=False, description="Run nb-sim under mpirun")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("llvm@22 +mlir +lld +clang")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("nlohmann-json")
    depends_on("hdf5~mpi", when="~mpi")
    depends_on("hdf5+mpi", when="+mpi")
    depends_on("libdeflate")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", not self.spec.satisfies("+mpi")),
        ]
