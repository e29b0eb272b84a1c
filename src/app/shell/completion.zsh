#compdef iktsne
# Completion of iktsne in zsh; printed by `iktsne --help=zsh`.
# The table calls these for all that there is; `verb` and the arrays are those of _iktsne.
_iktsne_verb() { # NAME HELP KEYS
    verbs+=("$1:$2")
    [[ $1 != $verb ]] || takes_keys=$3
}
_iktsne_option() { # VERB NAME ARGUMENT CHOICES HELP; no VERB: of every verb
    [[ -z $1 || $1 == $verb ]] || return 0
    flags+=("--$2:$5")
    [[ $4 != 'yes|no' ]] || flags+=("--no-$2:not so: $5")
    argument[--$2]=$3
    choices[--$2]=$4
}
_iktsne_key() { # SECTION.KEY CHOICES HELP
    keys+=("$1:$3")
    choices[$1]=$2
}
_iktsne_word() { # VERB WORD HELP
    [[ $1 != $verb ]] || known+=("$2:$3")
}
_iktsne_table() {
# -- the table of verbs, options and keys --
}

# The verb among the words before the cursor: the first that is neither an option nor its value.
_iktsne_find_verb() {
    local at
    for ((at = 2; at < CURRENT; at++)); do
        if [[ $words[at] != -* ]]; then
            verb=$words[at]
            return
        fi
        [[ -z $argument[$words[at]] ]] || ((at++))
    done
}

_iktsne_offer_values() { # NAME
    if [[ -n $choices[$1] ]]; then
        compadd -- ${(s:|:)choices[$1]}
    else
        _files
    fi
}

_iktsne() {
    local current=$words[CURRENT] before=$words[CURRENT-1] verb='' takes_keys=''
    local -a verbs flags keys known
    local -A argument choices
    _iktsne_table
    _iktsne_find_verb
    verbs=() flags=() keys=() known=()
    _iktsne_table
    if [[ $current == *=* ]]; then
        compset -P '*='
        _iktsne_offer_values ${current%%=*}
    elif [[ -n $argument[$before] ]]; then
        _iktsne_offer_values $before
    elif [[ $current == -* ]]; then
        _describe -o option flags
    elif [[ -z $verb ]]; then
        _describe verb verbs
    else
        _describe word known
        [[ -z $takes_keys ]] || _describe setting keys -S '='
        _files
    fi
}
# Read by compinit from a folder of fpath this file is the function; sourced, it defines it.
if [[ $funcstack[1] == _iktsne ]]; then
    _iktsne "$@"
else
    compdef _iktsne iktsne
fi
