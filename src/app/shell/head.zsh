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
