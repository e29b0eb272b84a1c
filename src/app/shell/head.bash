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
