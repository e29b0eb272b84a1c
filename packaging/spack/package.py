# Spack recipe of iktsne. To use it before it is in a repository of Spack's:
#     spack repo create my-repo && mkdir -p my-repo/packages/iktsne
#     cp packaging/spack/package.py my-repo/packages/iktsne/ && spack repo add my-repo
#     spack install iktsne
# From a checkout, with nothing to download:
#     spack dev-build iktsne@0.1.0
from spack.package import *


class Iktsne(CMakePackage):
    """t-SNE with the Isolation kernel, for millions of points on MPI. The same embedding, bit for
    bit, on any number of ranks and threads."""

    license("BSD-3-Clause")

    # scripts/release.sh writes this recipe beside the archive, with its place and its checksum.
    # url = "@URL@"
    version("0.1.0")

    variant("shared", default=False, description="Build a shared library for other programs")
    variant("matlab", default=True, description="Read MATLAB files of version 5 (matio)")
    variant("npz", default=True, description="Read .npz files of numpy and scipy (libzip)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")  # of an example that the stand-alone tests build
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")
    depends_on("hdf5@1.10: +mpi")
    # Transforms are done on one rank each; FFTW's MPI part moves the data between them.
    depends_on("fftw@3: +mpi precision=float,double")
    depends_on("netlib-scalapack")
    depends_on("lapack")
    depends_on("blas")
    depends_on("libyaml")
    depends_on("cairo +pdf")
    depends_on("pango")
    depends_on("zlib-api")

    # Files of version 7.3 are HDF5, which iktsne reads itself: no second HDF5 beside the parallel one.
    depends_on("matio ~hdf5", when="+matlab")
    depends_on("libzip", when="+npz")

    depends_on("cmocka", type="test")
    depends_on("libpng", type="test")
    depends_on("python", type="test")

    # OpenMP 4.5 and C11.
    conflicts("%gcc@:8")
    conflicts("%apple-clang", msg="Apple's compiler has no OpenMP")

    def cmake_args(self):
        # What is not wanted is not looked for, so that nothing of the system is linked by chance.
        optional = {"+matlab": "matio", "+npz": "libzip"}
        without = [name for variant, name in optional.items() if not self.spec.satisfies(variant)]
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("IKT_BUILD_TESTS", self.run_tests),
            self.define("IKT_WITHOUT", ";".join(without)),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("BLA_VENDOR", "All"),
        ]

    def check(self):
        """The tests of the build tree, but for those that start a Slurm or fuzzers."""
        with working_dir(self.build_directory):
            ctest = which("ctest", required=True)
            ctest("--output-on-failure", "-LE", "slurm|fuzz|bench|fault")

    def test_embed(self):
        """a small set of data, made and embedded: the same hash on one thread and on two"""
        script = join_path(self.prefix.share, "iktsne", "self-test.sh")
        out = which("sh", required=True)(script, output=str.split, error=str.split)
        check_outputs("iktsne works", out)

    def test_consumer(self):
        """the example of a program on the library, built against what is installed"""
        source = join_path(self.prefix.share, "iktsne", "examples", "consumer")
        cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
        cmake("-S", source, "-B", "build", self.define("CMAKE_PREFIX_PATH", self.prefix))
        cmake("--build", "build")
        out = Executable(join_path("build", "embed_blobs"))(output=str.split, error=str.split)
        check_outputs([r"embedding hash [0-9a-f]{16}"], out)
