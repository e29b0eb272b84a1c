# cmake -DPROGRAM=... -DFOLDER=... -P: asks the program for its manual pages and completions and
# writes them below FOLDER: man1/iktsne.1, man1/iktsne-VERB.1, iktsne.bash, iktsne.zsh, iktsne.fish.
# Verbs are those that the page of the program names, so a new verb has a page without further work.
function(write_document file)
    execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        list(JOIN ARGN " " arguments)
        message(FATAL_ERROR "${PROGRAM} ${arguments} fails: ${code}")
    endif()
    file(WRITE ${FOLDER}/${file} "${text}")
endfunction()

file(REMOVE_RECURSE ${FOLDER})
write_document(man1/iktsne.1 --help=man)
file(STRINGS ${FOLDER}/man1/iktsne.1 pages REGEX "^.BR iktsne..[a-z]+ .1.")
foreach(page IN LISTS pages)
    string(REGEX REPLACE "^.BR iktsne..([a-z]+) .*" "\\1" verb "${page}")
    write_document(man1/iktsne-${verb}.1 ${verb} --help=man)
endforeach()
foreach(shell bash zsh fish)
    write_document(iktsne.${shell} --help=${shell})
endforeach()
file(TOUCH ${FOLDER}/made)
