/* The library on any positions: measures and pages of them, whatever blocks the ranks have. */
#include "io/io_files.h"

#include <stdio.h>

#include "base/memory.h"

/* Behind all others: its data have short names. */
#include "support/library_data.h"

static double measured(const ikt_embedding *map, const char *name) {
    for (int64_t i = 0; i < ikt_embedding_measures(map); i++)
        if (strcmp(ikt_embedding_measure_at(map, i).name, name) == 0)
            return ikt_embedding_measure_at(map, i).value;
    fail_msg("no %s", name);
    return NAN;
}

static void any_positions(void **state) {
    ikt_context *ctx = *state;
    make_data();
    for (int way = 1; way < WAYS; way++) {
        int64_t first, count;
        share_of(way, ikt_rank(ctx), ikt_size(ctx), &first, &count);
        ikt_parameters *parameters = parameters_for(ctx);
        succeed(ctx, ikt_parameters_set(parameters, "output.measures", "all"));
        ikt_data *data = data_of(ctx, way == 2 ? SPARSE32 : DENSE, way);
        ikt_embedding *map, *copy;
        succeed(ctx, ikt_embed(ctx, parameters, data, NULL, &map));
        succeed(ctx,
                ikt_embedding_from_positions(ctx, data, ikt_embedding_positions(map), Q, &copy));
        assert_int_equal(ikt_embedding_hash(copy), ikt_embedding_hash(map));
        ikt_measuring how = ikt_measuring_defaults();
        how.seed = 7;
        succeed(ctx, ikt_embedding_evaluate(copy, parameters, data, &how));
        const char *const names[] = {"trustworthiness (k 12)", "10-NN accuracy", "Davies-Bouldin"};
        for (size_t i = 0; i < 3; i++)
            assert_true(measured(copy, names[i]) == measured(map, names[i]));
        how.names = "Trustworthiness, labels";
        succeed(ctx, ikt_embedding_evaluate(copy, parameters, data, &how));
        assert_true(measured(copy, names[0]) == measured(map, names[0]));
        assert_int_equal(ikt_embedding_measures(copy), 4); /* and what is of the family `labels` */
        how.names = "trustwortiness";
        refuse(ctx, ikt_embedding_evaluate(copy, parameters, data, &how), IKT_ERR_USAGE,
               "there is no measure 'trustwortiness'");
        refuse(ctx, ikt_embedding_write(copy, "never.h5", true), IKT_ERR_USAGE, "copy it");
        ikt_embedding_destroy(&copy);
        ikt_embedding_destroy(&map);
        ikt_data_destroy(&data);
        ikt_parameters_destroy(&parameters);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* What ranks give differently is refused on all of them; none waits for the others. */
static void measures_that_differ(void **state) {
    ikt_context *ctx = *state;
    const int rank = ikt_rank(ctx), last = ikt_size(ctx) - 1;
    const bool is_odd = rank == last && last > 0, is_alone = last == 0;
    int64_t first, count;
    make_data();
    share_of(0, rank, ikt_size(ctx), &first, &count);
    ikt_parameters *parameters = parameters_for(ctx);
    ikt_data *data = data_of(ctx, DENSE, 0), *bare;
    ikt_embedding *map;
    succeed(ctx, ikt_embedding_from_positions(ctx, data, start + first * Q, Q, &map));
    ikt_measuring how = ikt_measuring_defaults();
    how.names = "ranks";
    how.trust_k = is_odd ? 5 : 6;
    if (!is_alone)
        refuse(ctx, ikt_embedding_evaluate(map, parameters, data, &how), IKT_ERR_USAGE,
               "not the same on all ranks");
    how.trust_k = 6;
    succeed(ctx, ikt_parameters_set(parameters, "preprocess.pca", is_odd ? "2" : "0"));
    if (!is_alone)
        refuse(ctx, ikt_embedding_evaluate(map, parameters, data, &how), IKT_ERR_USAGE,
               "not the same on all ranks");
    succeed(ctx, ikt_parameters_set(parameters, "preprocess.pca", "0"));
    if (!is_alone)
        refuse(ctx, ikt_embedding_evaluate(map, parameters, is_odd ? NULL : data, &how),
               IKT_ERR_USAGE, "the same kinds of data");
    how.names = "clusters";
    succeed(ctx, ikt_data_create(ctx, count, &bare));
    if (rank == 0 || is_alone) ikt_data_labels(bare, labels + first);
    if (!is_alone)
        refuse(ctx, ikt_embedding_evaluate(map, parameters, bare, &how), IKT_ERR_USAGE,
               "some ranks give labels");
    ikt_data_destroy(&bare);
    succeed(ctx, ikt_data_create(ctx, count + (rank == last), &bare));
    refuse(ctx, ikt_embedding_evaluate(map, parameters, bare, &how), IKT_ERR_DATA,
           "are not those of the embedding");
    const ikt_view_column one = {.name = "class", .classes = rank == 0 ? labels + first : NULL};
    if (!is_alone) {
        refuse(ctx, ikt_embedding_view(map, "never.html", true, NULL, &one, is_odd ? 0 : 1),
               IKT_ERR_USAGE, "as many on all ranks");
        refuse(ctx, ikt_embedding_view(map, "never.html", true, NULL, &one, 1), IKT_ERR_USAGE,
               "the same on all ranks");
    }
    succeed(ctx, ikt_embedding_evaluate(map, parameters, data, &how)); /* all goes on */
    ikt_embedding_destroy(&map);
    ikt_data_destroy(&bare);
    ikt_data_destroy(&data);
    ikt_parameters_destroy(&parameters);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Pages of the same positions and columns are the same files, whatever blocks the ranks have. */
static void pages(void **state) {
    ikt_context *ctx = *state;
    static const int32_t colours[] = {0x102030, -1, 0x405060};
    static const char *const words[] = {"", "a word", "\u00fcber alles, a longer text"};
    static char first_page[1 << 20], next_page[1 << 20];
    const char *said[N];
    char page[IO_NAME_MAX];
    size_t size = 0;
    make_data();
    io_name(ctx, "page.html", page);
    for (int i = 0; i < N; i++)
        said[i] = words[i % 3];
    for (int way = 0; way < WAYS; way++) {
        int64_t first, count;
        ikt_data *data;
        ikt_embedding *map;
        share_of(way, ikt_rank(ctx), ikt_size(ctx), &first, &count);
        succeed(ctx, ikt_data_create(ctx, count, &data));
        succeed(ctx, ikt_embedding_from_positions(ctx, data, start + first * Q, Q, &map));
        const ikt_view_column columns[] = {{.name = "class",
                                            .classes = labels + first,
                                            .names = "a\nb\nc",
                                            .colours = colours,
                                            .n_colours = 3},
                                           {.name = "height", .numbers = pairs + first},
                                           {.name = "said", .texts = said + first}};
        succeed(ctx, ikt_embedding_view(map, page, true, "A title", columns, 3));
        if (ikt_rank(ctx) == 0) {
            FILE *file = fopen(page, "rb");
            assert_non_null(file);
            const size_t read = fread(way == 0 ? first_page : next_page, 1, sizeof next_page, file);
            fclose(file);
            assert_in_range(read, 10000, sizeof next_page - 1);
            if (way > 0) assert_int_equal(read, size);
            if (way > 0) assert_memory_equal(first_page, next_page, size);
            size = read;
        }
        const ikt_view_column nothing = {.name = "nothing"};
        refuse(ctx, ikt_embedding_view(map, page, true, "A title", &nothing, 1), IKT_ERR_USAGE,
               "'nothing' has to be");
        const bool is_first = ikt_rank(ctx) == 0; /* numbers here, and texts there */
        const ikt_view_column mixed = {.name = "mixed",
                                       .numbers = is_first ? pairs + first : NULL,
                                       .texts = is_first ? NULL : said + first};
        if (ikt_size(ctx) > 1)
            refuse(ctx, ikt_embedding_view(map, page, true, "A title", &mixed, 1), IKT_ERR_USAGE,
                   "'mixed' has to be");
        ikt_embedding_destroy(&map);
        ikt_data_destroy(&data);
    }
    io_remove(ctx, page);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(any_positions), ikt_test(measures_that_differ), ikt_test(pages))
