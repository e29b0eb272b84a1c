# The viewer's page is written as HTML, CSS and JavaScript (src/viewer/page); put together and as a C
# array it is one more of IKT_LIBRARY_SOURCES.
set(ikt_page_folder ${PROJECT_SOURCE_DIR}/src/viewer/page)
set(ikt_page_source ${PROJECT_BINARY_DIR}/generated/viewer_page.c)
set(ikt_page_scripts data.js columns.js cloud.js tiles.js discs.js screen.js
    colours.js names.js selection.js legend.js inspect.js search.js input.js state.js main.js)
list(TRANSFORM ikt_page_scripts PREPEND ${ikt_page_folder}/ OUTPUT_VARIABLE ikt_page_files)
list(JOIN ikt_page_scripts "," ikt_page_names)
add_custom_command(OUTPUT ${ikt_page_source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${ikt_page_folder} -DSCRIPTS=${ikt_page_names}
        -DOUT=${ikt_page_source} -P ${PROJECT_SOURCE_DIR}/cmake/IktPage.cmake
    DEPENDS ${ikt_page_files} ${ikt_page_folder}/page.html ${ikt_page_folder}/page.css
        ${PROJECT_SOURCE_DIR}/cmake/IktPage.cmake
    VERBATIM)
list(APPEND IKT_LIBRARY_SOURCES ${ikt_page_source})
