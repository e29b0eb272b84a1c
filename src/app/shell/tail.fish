functions -e _iktsne_verb _iktsne_option _iktsne_key _iktsne_word
