#!/usr/bin/env bash
# What can be tried of the packages without their tools: the recipe for Spack runs with stand-ins for
# Spack's names, and what it depends on is what the build looks for; the image's definition has the parts
# it needs and names scripts that exist; the self-test runs; and the packages that the image would
# install to run the program are those that the loader takes its libraries from.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
source=$IKT_SOURCE
recipe=$source/packaging/spack/package.py
image=$source/packaging/apptainer/iktsne.def

mkdir -p spack && cat >spack/package.py <<'P'
# Stand-ins: they note what the recipe says.
dependencies, variants, versions = {}, {}, []
class CMakePackage:
    run_tests = True
    def define(self, name, value): return f"-D{name}={value}"
    def define_from_variant(self, name, variant): return f"-D{name}={variant}?{variants[variant]}"
def depends_on(spec, when=None, type=None):
    dependencies[spec.split()[0].split("@")[0]] = (spec, when, type)
def variant(name, default=None, description=""):
    assert description, name
    variants[name] = default
def version(name, **where): versions.append(name)
def license(name): assert name == "BSD-3-Clause"
def conflicts(spec, msg=""): pass
P
touch spack/__init__.py
cat >try.py <<'P'
import re, runpy, sys
sys.path.insert(0, ".")
recipe, cmake = sys.argv[1:]
package = runpy.run_path(recipe)
from spack import package as noted
Iktsne = package["Iktsne"]
assert Iktsne.__doc__ and noted.versions == [re.search(r"VERSION ([0-9.]+) DESC", open(cmake + "/CMakeLists.txt").read())[1]]
class Part:
    mpicc = "/opt/mpi/bin/mpicc"
class Spec(dict):
    def __getitem__(self, name): return Part
    def __init__(self, on): self.on = on
    def satisfies(self, wanted): return (wanted[1:] in self.on) == (wanted[0] == "+")
it = Iktsne()
for on, without in (({"matlab", "npz"}, ""), (set(), "matio;libzip"), ({"npz"}, "matio")):
    it.spec = Spec(on)
    arguments = it.cmake_args()
    assert f"-DIKT_WITHOUT={without}" in arguments, arguments
    assert "-DIKT_BUILD_TESTS=True" in arguments and "-DMPI_C_COMPILER=/opt/mpi/bin/mpicc" in arguments
# Every library that CMake looks for is a dependency of the recipe, and every option it sets exists.
found = "".join(open(f"{cmake}/cmake/{name}.cmake").read() for name in ("IktDependencies", "IktMpi"))
names = {"fftw3": "fftw", "fftw3f": "fftw", "fftw3_mpi": "fftw", "fftw3f_mpi": "fftw", "yaml": "libyaml", "scalapack": "netlib-scalapack"}
for library in re.findall(r"^ *ikt_find\((\w+)", found, re.M):
    assert names.get(library, library) in noted.dependencies, library
for library, name in (("MPI", "mpi"), ("HDF5", "hdf5"), ("LAPACK", "lapack"), ("PNG", "libpng"), ("ZLIB", "zlib-api")):
    assert f"find_package({library}" in found and name in noted.dependencies, name
options = open(cmake + "/CMakeLists.txt").read()
for name in re.findall(r'"((?:IKT|BUILD)_\w+)"', open(recipe).read()):
    assert re.search(rf"\b(option|cmake_dependent_option|set)\({name} ", options), name
for name, (spec, when, kind) in noted.dependencies.items():
    assert when is None or when[1:] in noted.variants, when
print("recipe:", len(noted.dependencies), "dependencies,", len(noted.variants), "variants")
P
python=$(command -v /usr/bin/python3 || command -v python3 || true)
if [ -n "$python" ]; then
    "$python" try.py "$recipe" "$source" >out.txt 2>err.txt || fail "the recipe for Spack"
    cat out.txt
else
    echo "python3 is not installed: the recipe for Spack was not tried"
fi

for part in %help %files %post %environment %runscript %test %labels; do
    grep -q "^$part" "$image" || fail "the image has no $part"
done
grep -o '\./[a-z/-]*\.sh' "$image" | sort -u >out.txt
[ -s out.txt ] || fail "the image runs no script of ours"
while read -r script; do
    [ -x "$source/$script" ] || fail "$script, which the image runs, is not there"
done <out.txt
for script in "$source"/packaging/apptainer/*.sh "$source"/scripts/self-test.sh; do
    bash -n "$script" 2>err.txt || fail "syntax of $script"
done
sed -n '/^%post/,/^[A-Z%]/p' "$image" | grep -v '^[A-Z%]' >post.sh
bash -n post.sh 2>err.txt || fail "syntax of %post"

if command -v reframe >out.txt; then
    reframe --prefix "$work" -c "$source/packaging/reframe" -l >out.txt 2>err.txt && grep -q IktsneCheck out.txt || fail "the test for ReFrame"
fi

# As %test of the image does, with the program of this build.
mkdir -p prefix/bin prefix/share/iktsne
ln -s "$IKT_PROGRAM" prefix/bin/iktsne
cp "$source/scripts/self-test.sh" prefix/share/iktsne/
sh prefix/share/iktsne/self-test.sh $IKT_MPIRUN 2 >out.txt 2>err.txt || fail "self-test.sh"
cat out.txt
[ "$(sort -u <(grep -o '[0-9a-f]\{16\}$' out.txt) | wc -l)" -eq 1 ] || fail "self-test.sh: not three equal hashes"
exit "$failed"
