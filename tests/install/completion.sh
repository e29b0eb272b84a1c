#!/usr/bin/env bash
# Completion in bash, by calling its function with words as bash would make them; in zsh and fish where
# they are installed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
for shell in bash zsh fish; do
    "$IKT_PROGRAM" --help=$shell >iktsne.$shell 2>err.txt || fail "no completion for $shell"
done
. ./iktsne.bash
grep -qx 'complete -F _iktsne iktsne' <<<"$(complete -p iktsne)" || fail "nothing completes iktsne"
mkdir folder
touch data.h5 "two words.yaml"

# offers WORDS... -- EXPECTED...: what may follow; the last of WORDS is what is written of it so far.
offers() {
    local expected got
    COMP_WORDS=(iktsne)
    while [ "$1" != -- ]; do
        COMP_WORDS+=("$1")
        shift
    done
    shift
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _iktsne
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort)
    expected=$(printf '%s\n' "$@" | sort)
    [ "$got" = "$expected" ] || fail "after '${COMP_WORDS[*]}': $(echo $got) instead of $*"
}

# has WORDS... -- EXPECTED...: these are among what may follow.
has() {
    local -a words=()
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    COMP_WORDS=(iktsne "${words[@]}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _iktsne
    local expected
    for expected in "$@"; do
        grep -qxF -- "$expected" <<<"$(printf '%s\n' "${COMPREPLY[@]}")" || fail "after '${words[*]}': no $expected"
    done
}

# Verbs, options of the program, and their values.
offers em -- embed
has "" -- embed generate convert evaluate plot info plan transform study
offers --th -- --threads
offers --log j -- json
offers --log = j -- json
offers --threads 4 em -- embed
offers --log=json em -- embed
offers --log = json em -- embed
# Options of a verb, and no other's; choices; files.
has plot --co -- --colour-by --colour-as
offers plot --leg -- --legend
offers plot --no -- --no-legend
offers plot --colour-as c -- classes
offers plot --colour-as = c -- classes
offers plot run.h5 --background "" -- white black
offers embed --colour -- ""
offers embed --json data -- data.h5
# Keys, and their values; also of verbs that take them without listing them.
offers embed isolation.part -- isolation.partitionings=
offers --threads 2 embed layout.objective = j -- jse
offers embed affinity.kind = "" -- isolation gaussian knn adaptive fuzzy graph fisher laplacian
offers embed affinity.kind = -- isolation gaussian knn adaptive fuzzy graph fisher laplacian
offers plan layout.preset = m -- matlab
offers evaluate run.seed -- run.seed=
offers embed output.overwrite = y -- yes
offers embed input.file = da -- data.h5
offers embed input.file = "two" -- "two words.yaml"
offers embed fold -- folder
has embed "" -- run.seed= data.h5
# Names of sets, which are words of `generate`.
offers generate sph -- sphere
offers info isolation.part -- ""
echo "bash $BASH_VERSION: $failed failures"

if command -v zsh >/dev/null; then
    zsh -n iktsne.zsh 2>err.txt || fail "zsh cannot read its completion"
    grep -qx '#compdef iktsne' <<<"$(head -1 iktsne.zsh)" || fail "compinit of zsh would not see it"
    # As compinit and _describe would be called, with both replaced by what prints.
    zsh -f -c 'compdef() { defined=$1 }
        _describe() { [[ $1 != -o ]] || shift; for entry in ${(P)2}; do print -r -- $entry; done }
        _files() { print FILES }
        compadd() { shift; print -rl -- $@ }
        compset() { : }
        source ./iktsne.zsh
        try() { words=(iktsne "$@"); CURRENT=$#words; print "== $*"; _iktsne }
        try em; try plot --; try plot --colour-as ""; try embed layout.objective=; try embed ""' >out.txt 2>err.txt
    [ ! -s err.txt ] || fail "zsh complains"
    for line in '^embed:Embed the rows of a data set' '^--colour-as:' '^numbers$' '^nerv$' '^isolation.psi:' '^FILES$'; do
        grep -q -- "$line" out.txt || fail "zsh: no $line"
    done
else
    echo "zsh is not installed: its completion was not tried"
fi
if command -v fish >/dev/null; then
    export HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
    fish -c 'source iktsne.fish
        complete -C "iktsne em"; complete -C "iktsne plot --col"; complete -C "iktsne plot --colour-as "
        complete -C "iktsne embed layout.objective=j"; complete -C "iktsne plan isolation.part"
        complete -C "iktsne generate sph"; complete -C "iktsne info isolation.part"' >out.txt 2>err.txt
    cut -f1 out.txt >names.txt
    for name in embed --colour-by classes layout.objective=jse isolation.partitionings= sphere; do
        grep -qxF -- "$name" names.txt || fail "fish: no $name"
    done
    [ "$(grep -c '^isolation.partitionings=' names.txt)" -eq 1 ] || fail "fish offers keys to info"
else
    echo "fish is not installed: its completion was not tried"
fi
exit "$failed"
