#!/usr/bin/env bash
# The environment modules of the installed tree: loaded, they put the program, its pages and its packages on
# the paths; unloaded, they take them away; moved, they follow.
. "$(dirname "${BASH_SOURCE[0]}")/../support/install.sh"
stage /opt/iktsne "$work/moved/here"
prefix=$work/moved/here

# The Lmod one with Lmod's functions replaced by what prints.
lua=$(command -v lua || command -v lua5.4 || command -v lua5.3 || command -v luajit || true)
if [ -n "$lua" ]; then
    file=$(echo "$prefix"/share/iktsne/lmod/iktsne/*.lua)
    cat >try.lua <<'L'
function isFile(path) local f = io.open(path); if f then f:close() end; return f ~= nil end
function pathJoin(a, b) return a .. "/" .. b end
function myFileName() return arg[1] end
function help() end
function whatis() end
function conflict(name) print("conflict", name) end
function prepend_path(name, path) print(name, path) end
setenv = prepend_path
dofile(arg[1])
L
    "$lua" try.lua "$file" >out.txt 2>err.txt || fail "the module for Lmod"
    while read -r name path; do
        [ "$name" = conflict ] || [ -e "$path" ] || fail "$name: no $path"
    done <out.txt
    grep -q '^PATH' out.txt || fail "the module for Lmod sets no PATH"
    echo "Lmod's file: ok, run by $lua"
else
    echo "lua is not installed: the module for Lmod was not tried"
fi

setup=/usr/share/modules/init/bash
[ -r "$setup" ] || setup=${MODULESHOME:-/nowhere}/init/bash
[ -r "$setup" ] || { echo "skipped: environment-modules is not installed"; [ $failed -eq 0 ] && exit 77; exit 1; }
set +u
. "$setup"
module use "$prefix/share/iktsne/modules"
module load iktsne >out.txt 2>err.txt || fail "module load"
[ "$(command -v iktsne)" -ef "$prefix/bin/iktsne" ] || fail "the program is not on the PATH: $PATH"
[[ :$MANPATH: == *:"$prefix"/share/man:* ]] || fail "MANPATH is $MANPATH"
[ "$(pkg-config --modversion iktsne 2>err.txt)" ] || fail "PKG_CONFIG_PATH is $PKG_CONFIG_PATH"
[[ :$CMAKE_PREFIX_PATH: == *:"$prefix":* ]] || fail "CMAKE_PREFIX_PATH is $CMAKE_PREFIX_PATH"
[ -d "$IKTSNE_HOME/share/iktsne/jobs" ] || fail "IKTSNE_HOME is $IKTSNE_HOME"
if command -v man >/dev/null; then
    man -w iktsne-embed >out.txt 2>err.txt && grep -q "$prefix" out.txt || fail "man does not find the page"
fi
module help iktsne >out.txt 2>&1
grep -q 't-SNE with the Isolation kernel' out.txt || fail "module help"
module whatis iktsne >out.txt 2>&1
grep -q 'iktsne' out.txt || fail "module whatis"
module unload iktsne
[[ :$PATH: != *:"$prefix"/bin:* ]] || fail "unloaded, it is still on the PATH"
exit "$failed"
