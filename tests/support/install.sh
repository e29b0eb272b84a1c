# For scripts that try what is installed; sourced, with the build folder as first argument of the
# script. `stage PREFIX FOLDER` installs for PREFIX and leaves the tree in FOLDER, where no PREFIX is:
# as a package is made, and then moved.
. "$(dirname "${BASH_SOURCE[0]}")/script.sh"
build=$1

stage() {
    DESTDIR=$work/stage cmake --install "$build" --prefix "$1" >out.txt 2>err.txt || fail "install"
    mkdir -p "$(dirname "$2")"
    mv "$work/stage$1" "$2"
    find "$work/stage" -type f >out.txt
    [ ! -s out.txt ] || fail "files outside of the prefix"
    rm -rf "$work/stage"
}
