# Completion of iktsne in bash; printed by `iktsne --help=bash`.
# The table calls these for all that there is; `verb` and the arrays are those of _iktsne.
_iktsne_verb() { # NAME HELP KEYS
    verbs+=("$1")
    [ "$1" != "$verb" ] || takes_keys=$3
}
_iktsne_option() { # VERB NAME ARGUMENT CHOICES HELP; no VERB: of every verb
    [ -z "$1" ] || [ "$1" = "$verb" ] || return 0
    options+=("--$2")
    [ "$4" != 'yes|no' ] || options+=("--no-$2")
    argument["--$2"]=$3
    choices["--$2"]=$4
}
_iktsne_key() { # SECTION.KEY CHOICES HELP
    keys+=("$1=")
    choices[$1]=$2
}
_iktsne_word() { # VERB WORD HELP
    [ "$1" != "$verb" ] || words+=("$2")
}
_iktsne_table() {
# -- the table of verbs, options and keys --
}

# The verb among the words before the cursor: the first that is neither an option nor its value.
_iktsne_find_verb() {
    local at word
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        case $word in
        =) ((at++)) ;;
        -*) [ -z "${argument[$word]:-}" ] || [ "${COMP_WORDS[at + 1]}" = = ] || ((at++)) ;;
        *) verb=$word && return ;;
        esac
    done
}

# The option or key whose value is being written: bash makes a word of every =.
_iktsne_find_name() {
    local before=''
    [ "$COMP_CWORD" -lt 1 ] || before=${COMP_WORDS[COMP_CWORD - 1]}
    if [ "$current" = = ]; then
        name=$before
        current=''
    elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
        name=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ -n "$before" ] && [ -n "${argument[$before]:-}" ]; then
        name=$before
    fi
}

_iktsne_offer() { # WORDS...: those that go on from what is written
    local word
    for word in "$@"; do
        [[ $word != "$current"* ]] || COMPREPLY+=("$word")
    done
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

_iktsne_offer_files() {
    local files
    mapfile -t files < <(compgen -f -- "$current")
    COMPREPLY+=("${files[@]}")
    compopt -o filenames 2>/dev/null
}

_iktsne() {
    local current=${COMP_WORDS[COMP_CWORD]} name='' verb='' takes_keys=''
    local -a verbs=() options=() keys=() words=()
    local -A argument=() choices=()
    COMPREPLY=()
    _iktsne_table
    _iktsne_find_verb
    verbs=() options=() keys=() words=()
    _iktsne_table
    _iktsne_find_name
    if [ -n "$name" ] && [ -n "${choices[$name]:-}" ]; then
        local -a values
        IFS='|' read -ra values <<<"${choices[$name]}"
        _iktsne_offer "${values[@]}"
    elif [ -n "$name" ]; then
        _iktsne_offer_files
    elif [[ $current == -* ]]; then
        _iktsne_offer "${options[@]}"
    elif [ -z "$verb" ]; then
        _iktsne_offer "${verbs[@]}"
    else
        _iktsne_offer "${words[@]}"
        [ -z "$takes_keys" ] || _iktsne_offer "${keys[@]}"
        [ ${#COMPREPLY[@]} -gt 0 ] && [ -n "$current" ] || _iktsne_offer_files
    fi
}
complete -F _iktsne iktsne
