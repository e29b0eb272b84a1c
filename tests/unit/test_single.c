/* A context of one process, by which a program uses the library that knows nothing of MPI: MPI is
 * begun where nobody has, once, and what cannot be is said in a sentence. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <iktsne/iktsne.h>

#include "support/ikt_test.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether this process has begun another one that still runs (Open MPI would begin a daemon). */
static bool has_child(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    const bool has = children && fgetc(children) != EOF;
    if (children) fclose(children);
    return has;
}

/* What is chosen for a process alone is not for the programs that it starts, and what the user has
 * chosen stays. */
static void environment_is_as_before(void) {
    static const char *const names[] = {"OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_ess",
                                        "OMPI_MCA_pmix", "OMPI_MCA_pml",
                                        "OMPI_MCA_orte_create_session_dirs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(getenv(names[i]));
    assert_string_equal(getenv("OMPI_MCA_btl"), "self,vader");
}

static void begins_mpi_once(void **state) {
    ikt_context *first = NULL, *second = NULL;
    const char *why = "";
    int has_begun = 1, level = -1;
    (void)state;
    MPI_Initialized(&has_begun);
    assert_false(has_begun);
    setenv("OMPI_MCA_btl", "self,vader", 1);
    assert_int_equal(ikt_context_create_single(1, &first, &why), IKT_OK);
    assert_null(why);
    MPI_Initialized(&has_begun);
    assert_true(has_begun);
    assert_false(has_child());
    environment_is_as_before();
    MPI_Query_thread(&level);
    assert_true(level >= MPI_THREAD_FUNNELED);
    assert_int_equal(ikt_context_create_single(2, &second, &why), IKT_OK);
    assert_int_equal(ikt_size(first), 1);
    assert_int_equal(ikt_rank(second), 0);
    assert_int_equal(ikt_threads(second), 2);

    float rows[60], again[40];
    for (int e = 0; e < 60; e++)
        rows[e] = (float)((e * 37) % 23);
    ikt_context_set_log(first, IKT_LOG_ERROR);
    ikt_parameters *parameters;
    ikt_embedding *map;
    assert_int_equal(ikt_parameters_create(first, &parameters), IKT_OK);
    assert_int_equal(ikt_parameters_set(parameters, "layout.iterations", "20"), IKT_OK);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(ikt_embed_rows(first, parameters, rows, 20, 3, IKT_TYPE_F32, NULL, &map),
                         IKT_OK);
        if (time == 1) assert_memory_equal(again, ikt_embedding_positions(map), sizeof again);
        memcpy(again, ikt_embedding_positions(map), sizeof again);
        ikt_embedding_destroy(&map);
    }
    ikt_parameters_destroy(&parameters);
    ikt_context_destroy(&first);
    ikt_context_destroy(&second);
}

/* A program that has ended MPI itself is told, and nothing is ended twice at the exit. */
static void cannot_begin_again(void **state) {
    ikt_context *ctx = NULL;
    const char *why = NULL;
    (void)state;
    MPI_Finalize();
    assert_int_equal(ikt_context_create_single(1, &ctx, &why), IKT_ERR_USAGE);
    assert_null(ctx);
    assert_non_null(strstr(why, "cannot be begun again"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(begins_mpi_once),
                                       cmocka_unit_test(cannot_begin_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
