#!/usr/bin/env bash
# Programs built against the installed tree, by find_package and by pkg-config, embed rows that they hold
# in memory: the hash is that of `iktsne embed` on a file with these rows, on any ranks. The prefix is
# moved, and they are built again. Nothing that is installed names a folder of the build.
. "$(dirname "${BASH_SOURCE[0]}")/../support/install.sh"
source=$IKT_SOURCE/examples/consumer
export CMAKE_BUILD_PARALLEL_LEVEL=1

hash_of() { sed -n 's/^embedding hash *//p' "$1"; }

# runs RANKS PROGRAM ARGUMENTS...: leaves what it prints in out.txt.
runs() {
    local ranks=$1
    shift
    timeout 60 $IKT_MPIRUN "$ranks" "$@" >out.txt 2>err.txt || fail "$* on $ranks ranks"
}

built_by_cmake() { # PREFIX FOLDER
    cmake -S "$source" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=Release >out.txt 2>err.txt &&
        cmake --build "$2" >out.txt 2>err.txt || fail "CMake builds against $1"
}

built_by_pkg_config() { # PREFIX PROGRAM
    local flags
    export PKG_CONFIG_PATH=$1/lib/pkgconfig LD_LIBRARY_PATH=$1/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # the latter for a shared library
    flags=$(pkg-config --cflags --libs --static iktsne 2>err.txt) || fail "pkg-config: no flags"
    ${CC:-cc} -std=c11 "$source/embed_blobs.c" -o "$2" $flags >out.txt 2>err.txt || fail "pkg-config builds"
    [ "$(pkg-config --modversion iktsne)" = "$("$IKT_PROGRAM" --version | sed -n 's/^iktsne \([^ ]*\).*/\1/p')" ] ||
        fail "another version: $(pkg-config --modversion iktsne)"
}

stage /opt/iktsne "$work/one"
if grep -rlIF -e "$build" -e "$IKT_SOURCE" "$work/one" >out.txt; then fail "names of build or source folder"; fi

# What the public headers declare can be linked with, and nothing else (but names that OpenMP makes).
cat $(ls one/include/iktsne/*.h | grep -v base.h) | tr '\n' ' ' | grep -o 'IKT_API [^(]*(' | sed 's/.*[ *]\(ikt_[a-z_]*\)($/\1/' | sort >declared.txt
readelf -sW "$work"/one/lib/libiktsne.* 2>err.txt |
    awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" && $8 !~ /^\.gomp/ { print $8 }' | sort -u >shown.txt
[ "$(wc -l <declared.txt)" -gt 30 ] || fail "few functions are declared"
diff declared.txt shown.txt >out.txt || fail "declared (<) and shown (>) functions differ"

built_by_cmake "$work/one" by-cmake
runs 1 by-cmake/embed_blobs run
cp out.txt one-rank.txt
expected=$(hash_of one-rank.txt)
[ ${#expected} -eq 16 ] || fail "the program prints no hash"
cat one-rank.txt
runs 3 by-cmake/embed_blobs
cmp out.txt one-rank.txt || fail "3 ranks print something else"
runs 2 by-cmake/embed_points
grep -q '^120 rows, hash [0-9a-f]\{16\}$' out.txt || fail "the program in C++"

# What `embed` makes of the same rows; and what the verbs say of the map that the program wrote.
program=$work/one/bin/iktsne
"$program" convert run.rows.csv rows.h5 --type float32 --quiet >out.txt 2>err.txt || fail "convert"
runs 2 "$program" embed input.file=rows.h5 output.file=embed.h5 run.seed=7 layout.iterations=300 \
    layout.exaggeration_iterations=100 --quiet
[ "$(hash_of out.txt)" = "$expected" ] || fail "embed gives $(hash_of out.txt), the library $expected"
"$program" info run.h5 >out.txt 2>err.txt || fail "info"
grep -q "embedding_hash *$expected" out.txt || fail "the file of the library has another hash"
head -c 4 run.png | grep -q PNG || fail "no picture"

# Another place.
mkdir elsewhere && mv one elsewhere/two
built_by_cmake "$work/elsewhere/two" again
runs 2 again/embed_blobs
cmp out.txt one-rank.txt || fail "built against the moved prefix it prints something else"
built_by_pkg_config "$work/elsewhere/two" by-pkg-config
runs 2 ./by-pkg-config
cmp out.txt one-rank.txt || fail "built by pkg-config it prints something else"

# A version that does not fit is refused.
sed 's/find_package(iktsne 0.1/find_package(iktsne 0.2/' "$source/CMakeLists.txt" >CMakeLists.txt
cp "$source"/*.c* .
if cmake -S . -B other -DCMAKE_PREFIX_PATH="$work/elsewhere/two" >out.txt 2>&1; then fail "0.1 passes for 0.2"; fi
grep -q 'version: 0\.' out.txt || fail "no word about the version"
exit "$failed"
