# Completion of iktsne in fish; printed by `iktsne --help=fish`.
set -g _iktsne_with_keys
function _iktsne_wants_keys
    __fish_seen_subcommand_from $_iktsne_with_keys
end
function _iktsne_verb -a name help keys
    complete -c iktsne -n __fish_use_subcommand -f -a $name -d $help
    test -z "$keys"; or set -ga _iktsne_with_keys $name
end
function _iktsne_option -a verb name argument choices help
    set -l when
    test -z "$verb"; or set when -n "__fish_seen_subcommand_from $verb"
    if test -z "$argument"
        complete -c iktsne $when -l $name -d $help
        test "$choices" != 'yes|no'; or complete -c iktsne $when -l no-$name -d "not so: $help"
    else if test -n "$choices"
        complete -c iktsne $when -l $name -x -a (string replace -a '|' ' ' $choices) -d $help
    else
        complete -c iktsne $when -l $name -r -d $help
    end
end
function _iktsne_key -a key choices help
    set -l values $key=
    test -z "$choices"; or set values $key=(string split '|' $choices)
    complete -c iktsne -n _iktsne_wants_keys -a "$values" -d $help
end
function _iktsne_word -a verb word help
    complete -c iktsne -n "__fish_seen_subcommand_from $verb" -a $word -d $help
end
# -- the table of verbs, options and keys --
functions -e _iktsne_verb _iktsne_option _iktsne_key _iktsne_word
