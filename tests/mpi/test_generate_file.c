/* Files of generated sets: the same data for every number of ranks; deformed images; errors. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "data/generate.h"
#include "dist/rows.h"
#include "io/hdf5/h5.h"
#include "io/sources/source.h"

static const char *file_name(ikt_context *ctx, const char *what) {
    static char names[2][64];
    static int turn = 0;
    turn = !turn;
    snprintf(names[turn], sizeof names[turn], "generate-%s-%d.h5", what, ikt_size(ctx));
    return names[turn];
}

static void remove_file(ikt_context *ctx, const char *path) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) assert_int_equal(remove(path), 0);
}

/* Whether a set is made from another one. */
static bool needs_source(const ikt_generator *generator) {
    for (const ikt_generate_use *use = generator->uses; use->key; use++)
        if (strcmp(use->key, "source") == 0) return true;
    return false;
}

static ikt_generate_settings settings_with(ikt_context *ctx, int64_t points, const char *source) {
    ikt_generate_settings s;
    assert_int_equal(ikt_generate_defaults(ctx, &s), IKT_OK);
    s.points = points;
    snprintf(s.source, sizeof s.source, "%s", source);
    return s;
}

static void write_set(ikt_context *ctx, const char *name, const ikt_generate_settings *s,
                      const char *path) {
    ikt_generation *g = NULL;
    int64_t held = ikt_memory_now(ctx);
    assert_int_equal(ikt_generation_open(ctx, name, s, 11, &g), IKT_OK);
    assert_int_equal(ikt_generation_write(g, path, true), IKT_OK);
    ikt_generation_close(&g);
    assert_int_equal(ikt_memory_now(ctx), held);
}

/* Rows and labels of a whole file, on every rank. */
typedef struct {
    int64_t n, d;
    uint8_t *x; /* bytes of the file's type */
    int64_t *labels;
    bool labelled;
    size_t row_bytes;
} contents;

static contents read_file(ikt_context *ctx, const char *path) {
    contents c = {0};
    ikt_source *source;
    assert_int_equal(ikt_source_open(ctx, path, "X", 0, &source), IKT_OK);
    c.n = ikt_source_rows(source);
    c.d = ikt_source_columns(source);
    c.row_bytes = (size_t)c.d * ikt_type_size(ikt_source_type(source));
    ikt_alloc(ctx, &c.x, c.n, c.row_bytes, "test");
    ikt_alloc(ctx, &c.labels, c.n, sizeof *c.labels, "test");
    assert_int_equal(ikt_source_read(source, 0, c.n, c.x), IKT_OK);
    assert_int_equal(ikt_source_read_labels(source, "labels", 0, c.n, c.labels, &c.labelled),
                     IKT_OK);
    ikt_source_close(&source);
    return c;
}

static void drop(contents *c) {
    ikt_free(&c->x);
    ikt_free(&c->labels);
}

static void assert_attribute(ikt_context *ctx, hid_t file, const char *name, const char *value) {
    char *text;
    assert_int_equal(ikt_h5_get_text(ctx, file, name, &text), IKT_OK);
    assert_non_null(text);
    assert_string_equal(text, value);
    ikt_free(&text);
}

/* The file against the rows that one rank makes alone: data, labels, marks, attributes. */
static void check_file(ikt_context *ctx, const char *path, const char *name,
                       const ikt_generate_settings *s) {
    ikt_context *alone = ikt_test_alone();
    ikt_generation *g;
    char *rows;
    int32_t *labels;
    int64_t *marked, n_marked;
    contents c = read_file(ctx, path);
    assert_int_equal(ikt_generation_open(alone, name, s, 11, &g), IKT_OK);
    assert_int_equal(c.n, g->settings.points);
    assert_int_equal(c.d, g->columns);
    assert_int_equal(c.labelled, g->has_labels);
    ikt_alloc(alone, &rows, c.n, c.row_bytes, "test");
    ikt_alloc(alone, &labels, c.n, sizeof *labels, "test");
    ikt_generation_fill(g, 0, c.n, rows, labels);
    uint64_t whole = ikt_row_hash(alone, rows, 0, c.n, c.row_bytes);
    ikt_rows distribution = ikt_rows_make(c.n, ikt_size(ctx), ikt_rank(ctx));
    assert_true(ikt_row_hash(ctx, c.x + (size_t)distribution.first * c.row_bytes,
                             distribution.first, distribution.count, c.row_bytes) == whole);
    for (int64_t i = 0; c.labelled && i < c.n; i++)
        assert_int_equal(c.labels[i], labels[i]);

    ikt_source *source;
    assert_int_equal(ikt_source_open(ctx, path, "X", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read_marked(source, &marked, &n_marked), IKT_OK);
    assert_int_equal(n_marked, g->origin >= 0);
    if (n_marked > 0) assert_int_equal(marked[0], g->origin);
    ikt_free(&marked);
    ikt_source_close(&source);
    ikt_free(&rows), ikt_free(&labels), drop(&c);
    ikt_generation_close(&g);
    ikt_context_destroy(&alone);
}

static void files_hold_the_same_data_for_any_ranks(void **state) {
    ikt_context *ctx = *state;
    const ikt_generator *generator;
    for (int k = 0; (generator = ikt_generator_at(k)) != NULL; k++) {
        if (needs_source(generator)) continue; /* have tests of their own */
        ikt_generate_settings s = settings_with(ctx, 1003, "");
        const char *path = file_name(ctx, generator->name);
        ikt_context_set_threads(ctx, 1 + k % 2);
        write_set(ctx, generator->name, &s, path);
        check_file(ctx, path, generator->name, &s);
        remove_file(ctx, path);
    }
}

static void ranks_without_rows_take_part(void **state) {
    ikt_context *ctx = *state;
    static const char *const names[] = {"sphere", "glyphs", "two-subspace"};
    for (int k = 0; k < 3; k++) {
        ikt_generate_settings s = settings_with(ctx, 3, "");
        const char *path = file_name(ctx, "few");
        write_set(ctx, names[k], &s, path);
        check_file(ctx, path, names[k], &s);
        remove_file(ctx, path);
    }
}

/* More rows than one step of a rank: blocks join without gaps. */
static void many_blocks_join(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = settings_with(ctx, 40000, "");
    const char *path = file_name(ctx, "blocks");
    write_set(ctx, "sphere", &s, path);
    check_file(ctx, path, "sphere", &s);
    remove_file(ctx, path);
}

static void the_file_says_how_it_was_made(void **state) {
    ikt_context *ctx = *state;
    ikt_generate_settings s = settings_with(ctx, 100, "");
    hid_t file;
    s.separation = 2.5;
    const char *path = file_name(ctx, "attributes");
    write_set(ctx, "gaussian-mixture", &s, path);
    assert_int_equal(ikt_h5_open(ctx, path, &file), IKT_OK);
    assert_attribute(ctx, file, "generator", "gaussian-mixture");
    assert_attribute(ctx, file, "seed", "11");
    assert_attribute(ctx, file, "points", "100");
    assert_attribute(ctx, file, "dimensions", "50");
    assert_attribute(ctx, file, "clusters", "10");
    assert_attribute(ctx, file, "separation", "2.5");
    char *text;
    assert_int_equal(ikt_h5_get_text(ctx, file, "noise", &text), IKT_OK);
    assert_null(text); /* not a setting of this set */
    assert_int_equal(ikt_h5_get_text(ctx, file, "program", &text), IKT_OK);
    assert_non_null(text);
    ikt_free(&text);
    assert_true(ikt_h5_close(file));
    remove_file(ctx, path);
}

static double image_distance(const uint8_t *a, const uint8_t *b, int64_t d) {
    double sum = 0;
    for (int64_t p = 0; p < d; p++)
        sum += (a[p] - b[p]) * (a[p] - b[p]);
    return sum;
}

static void deformed_images_keep_their_originals_near(void **state) {
    ikt_context *ctx = *state;
    enum { SOURCES = 40, N = 500 };
    char source[64];
    snprintf(source, sizeof source, "%s", file_name(ctx, "source"));
    ikt_generate_settings s = settings_with(ctx, SOURCES, "");
    write_set(ctx, "glyphs", &s, source);
    contents from = read_file(ctx, source);
    s = settings_with(ctx, N, source);
    const char *path = file_name(ctx, "deform");
    write_set(ctx, "deform", &s, path);
    check_file(ctx, path, "deform", &s);
    contents c = read_file(ctx, path);
    assert_memory_equal(c.x, from.x, SOURCES * 784);
    int same = 0;
    for (int64_t i = 0; i < N; i++) {
        const uint8_t *image = c.x + i * 784, *own = from.x + i % SOURCES * 784;
        assert_int_equal(c.labels[i], from.labels[i % SOURCES]);
        int64_t nearest = 0;
        for (int64_t j = 1; j < SOURCES; j++)
            if (image_distance(image, from.x + j * 784, 784) <
                image_distance(image, from.x + nearest * 784, 784))
                nearest = j;
        same += from.labels[nearest] == c.labels[i];
        if (i >= SOURCES) {
            assert_true(image_distance(image, own, 784) > 0);
            assert_true(image_distance(image, image - SOURCES * 784, 784) > 0);
        }
    }
    assert_true(same >= 0.75 * N); /* by chance 0.1 N; only 4 images a class */
    drop(&c);

    s.keep_originals = IKT_ORIGINALS_NO;
    write_set(ctx, "deform", &s, path);
    check_file(ctx, path, "deform", &s);
    contents d = read_file(ctx, path);
    for (int64_t i = 0; i < SOURCES; i++)
        assert_true(image_distance(d.x + i * 784, from.x + i * 784, 784) > 0);
    drop(&d);

    s.strength = 0; /* nothing moves: every row is its source, bit for bit */
    write_set(ctx, "deform", &s, path);
    d = read_file(ctx, path);
    for (int64_t i = 0; i < N; i++)
        assert_memory_equal(d.x + i * 784, from.x + i % SOURCES * 784, 784);
    drop(&d), drop(&from);
    remove_file(ctx, path);
    remove_file(ctx, source);
}

/* Writes n x d zeros of the type, without storage where they are many, with labels 0 but for one,
 * or none (row < 0). */
static void write_source(ikt_context *ctx, const char *path, hid_t type, hsize_t n, hsize_t d,
                         int64_t row, int64_t label) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) {
        hsize_t size[2] = {n, d}, chunk[2] = {n < 4096 ? n : 4096, d}, at = (hsize_t)row, one = 1;
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(2, size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(list, 2, chunk);
        if (n < 1000) H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
        ikt_h5_close(H5Dcreate2(file, "X", type, space, H5P_DEFAULT, list, H5P_DEFAULT));
        if (row >= 0) {
            hid_t line = H5Screate_simple(1, size, NULL), point = H5Screate_simple(1, &one, NULL);
            hid_t set = H5Dcreate2(file, "labels", H5T_NATIVE_INT64, line, H5P_DEFAULT, H5P_DEFAULT,
                                   H5P_DEFAULT);
            H5Sselect_hyperslab(line, H5S_SELECT_SET, &at, NULL, &one, NULL);
            assert_true(H5Dwrite(set, H5T_NATIVE_INT64, point, line, H5P_DEFAULT, &label) >= 0);
            ikt_h5_close(set), ikt_h5_close(line), ikt_h5_close(point);
        }
        ikt_h5_close(list), ikt_h5_close(space);
        assert_true(ikt_h5_close(file));
    }
    ikt_barrier(ctx);
}

static void assert_source_refused(ikt_context *ctx, const char *source, ikt_status status,
                                  const char *message) {
    ikt_generation *g;
    ikt_generate_settings s = settings_with(ctx, 10, source);
    assert_int_equal(ikt_generation_open(ctx, "deform", &s, 1, &g), status);
    assert_null(g);
    if (!strstr(ikt_message(ctx), message)) fail_msg("%s", ikt_message(ctx));
    assert_non_null(strstr(ikt_message(ctx), source));
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void unusable_sources_are_refused_on_every_rank(void **state) {
    ikt_context *ctx = *state;
    const char *path = file_name(ctx, "bad");
    assert_source_refused(ctx, "nowhere/images.h5", IKT_ERR_FILE, "nowhere");
    write_source(ctx, path, H5T_NATIVE_FLOAT, 20, 64, -1, 0);
    assert_source_refused(ctx, path, IKT_ERR_DATA, "is float32; images to deform must be uint8");
    write_source(ctx, path, H5T_NATIVE_UINT8, 20, 63, -1, 0);
    assert_source_refused(ctx, path, IKT_ERR_DATA, "63 columns; images to deform must be square");
    write_source(ctx, path, H5T_NATIVE_UINT8, 2, 1025 * 1025, -1, 0);
    assert_source_refused(ctx, path, IKT_ERR_DATA, "at most 1024 x 1024");
    write_source(ctx, path, H5T_NATIVE_UINT8, (hsize_t)1 << 40, 64, -1, 0);
    assert_source_refused(ctx, path, IKT_ERR_RESOURCE, "MB on every rank");
    const int64_t rows[] = {0, 11, 19}; /* held by the first, a middle and the last rank */
    for (int k = 0; k < 3; k++) {
        write_source(ctx, path, H5T_NATIVE_UINT8, 20, 64, rows[k], (int64_t)1 << 31);
        assert_source_refused(ctx, path, IKT_ERR_DATA, "the label 2147483648 of row");
    }
    remove_file(ctx, path);
}

/* Images of another shape, without labels, fewer than ranks. */
static void sources_may_be_small_and_unlabelled(void **state) {
    ikt_context *ctx = *state;
    char source[64];
    snprintf(source, sizeof source, "%s", file_name(ctx, "small"));
    const char *path = file_name(ctx, "small-deform");
    for (hsize_t d = 1; d <= 64; d *= 64) {
        write_source(ctx, source, H5T_NATIVE_UINT8, 2, d, -1, 0);
        ikt_generate_settings s = settings_with(ctx, 5, source);
        write_set(ctx, "deform", &s, path);
        check_file(ctx, path, "deform", &s);
        contents c = read_file(ctx, path);
        assert_false(c.labelled);
        assert_int_equal(c.d, (int64_t)d);
        for (int64_t p = 0; p < c.n * c.d; p++)
            assert_int_equal(c.x[p], 0);
        drop(&c);
    }
    remove_file(ctx, path);
    remove_file(ctx, source);
}

static void a_file_in_the_way_is_kept(void **state) {
    ikt_context *ctx = *state;
    ikt_generation *g;
    ikt_generate_settings s = settings_with(ctx, 20, "");
    const char *path = file_name(ctx, "kept");
    write_set(ctx, "sphere", &s, path);
    assert_int_equal(ikt_generation_open(ctx, "swiss-roll", &s, 1, &g), IKT_OK);
    assert_int_equal(ikt_generation_write(g, path, false), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), path));
    ikt_clear(ctx);
    assert_int_equal(ikt_generation_write(g, "nowhere/at/all.h5", true), IKT_ERR_FILE);
    assert_non_null(strstr(ikt_message(ctx), "nowhere/at/all.h5"));
    ikt_clear(ctx);
    ikt_generation_close(&g);
    check_file(ctx, path, "sphere", &s);
    remove_file(ctx, path);
}

IKT_MPI_TESTS(ikt_test(files_hold_the_same_data_for_any_ranks),
              ikt_test(ranks_without_rows_take_part), ikt_test(many_blocks_join),
              ikt_test(the_file_says_how_it_was_made),
              ikt_test(deformed_images_keep_their_originals_near),
              ikt_test(unusable_sources_are_refused_on_every_rank),
              ikt_test(sources_may_be_small_and_unlabelled), ikt_test(a_file_in_the_way_is_kept))
