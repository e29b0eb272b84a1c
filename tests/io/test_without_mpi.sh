#!/usr/bin/env bash
# What one process does is done without MPI: where MPI cannot start, these verbs and texts work, and
# write the same bytes as under the launcher; started as several, they write and print once.
. "$IKT_SOURCE/tests/support/script.sh"

"$IKT_PROGRAM" generate five-subspace data.h5 --points 100 --quiet
"$IKT_PROGRAM" embed data.h5 run.h5 layout.iterations=60 --quiet >out.txt 2>err.txt || fail "embed"

# A component that there is none of: Open MPI cannot start with it. Other libraries ignore it, and
# then the rest holds as well.
export OMPI_MCA_pml=none_of_that_name
"$IKT_PROGRAM" embed data.h5 again.h5 >out.txt 2>err.txt && echo "this MPI starts whatever it is told"

texts() {
    for words in --version --help help "embed --help" "plan -h" "study --help" "embed --print-defaults" \
        "embed data.h5 --print-config" "info run.h5" "info data.h5 --json" "--log json info run.h5" \
        "--threads 1 info run.h5"; do
        "$IKT_PROGRAM" $words >out.txt 2>err.txt || fail "'$words' fails"
        [ -s out.txt ] || fail "'$words' prints nothing"
        [ ! -s err.txt ] || fail "'$words' complains"
    done
}

refusals() {
    "$IKT_PROGRAM" inform run.h5 >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "a verb that there is none of is refused with another exit code"
    grep -q "did you mean 'info'" err.txt || fail "no hint for a verb"
    "$IKT_PROGRAM" info absent.h5 >out.txt 2>err.txt
    [ $? -eq 4 ] || fail "a file that is not there is refused with another exit code"
    printf 'no HDF5' >wrong.h5
    "$IKT_PROGRAM" plot wrong.h5 wrong.png >out.txt 2>err.txt
    [ $? -eq 4 ] || fail "a file that is no HDF5 file is refused with another exit code"
    [ ! -e wrong.png ] || fail "a picture of nothing"
}

files() {
    "$IKT_PROGRAM" plot run.h5 alone.png >out.txt 2>err.txt || fail "plot"
    "$IKT_PROGRAM" view run.h5 alone.html >out.txt 2>err.txt || fail "view"
    "$IKT_PROGRAM" info run.h5 >alone.txt 2>err.txt || fail "info"
    "$IKT_PROGRAM" plot run.h5 alone.png >out.txt 2>err.txt && fail "a picture is replaced unasked"
    unset OMPI_MCA_pml
    for ranks in 1 3; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot run.h5 r$ranks.png >out.txt 2>err.txt || fail "plot $ranks"
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" view run.h5 r$ranks.html >out.txt 2>err.txt || fail "view $ranks"
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" info run.h5 >r$ranks.txt 2>err.txt || fail "info $ranks"
        for end in png html txt; do
            cmp -s alone.$end r$ranks.$end || fail "$ranks ranks write another .$end"
        done
    done
    ls ./*.part-* >/dev/null 2>&1 && fail "an unfinished file is left"
    return 0
}

try texts "texts without MPI"
try refusals "refusals without MPI"
try files "the same files with and without MPI"
exit $failed
