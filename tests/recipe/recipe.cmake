# What a run is, as the steps that it has and the sentences by which it is refused.
ikt_add_test(NAME recipe_steps LABEL recipe SOURCES unit/test_recipe.c)
# Random lines of settings, of which plan, dry run, study and run must say the same. All of them:
#   python3 tests/recipe/lines.py build/release/iktsne --draws 5000
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
    add_test(NAME recipe_lines COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/recipe/lines.py
        $<TARGET_FILE_DIR:ikt_internal>/iktsne --draws 300 --seed 1)
    ikt_test_properties(recipe_lines recipe 1 1 900)
endif()
ikt_add_script_test(NAME recipe_combinations LABEL recipe SCRIPT recipe/combinations.sh)
