/* Reading a configuration file on several ranks: equal values, or equal failures, everywhere. */
#define _POSIX_C_SOURCE 200809L
#include "unit/test_config.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"

enum { SIZE_MAX_OF_A_FILE = 1 << 20 };

typedef struct {
    char path[64];
} scratch;

/* A name that all ranks share and no other test has. */
static scratch name_file(ikt_context *ctx, const char *suffix) {
    scratch file;
    int64_t id = getpid();
    ikt_broadcast(ctx, &id, sizeof id, 0);
    snprintf(file.path, sizeof file.path, "config-load-%lld%s", (long long)id, suffix);
    return file;
}

/* Rank 0 writes `length` bytes; nobody goes on before they are there. */
static void write_file(ikt_context *ctx, const char *path, const char *text, size_t length) {
    if (ikt_rank(ctx) == 0) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, length, file), length);
        assert_int_equal(fclose(file), 0);
    }
    ikt_barrier(ctx);
}

static void remove_file(ikt_context *ctx, const char *path) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) remove(path);
}

static ikt_status load(ikt_context *ctx, sample *s, const char *path) {
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(ctx, s, parts);
    return ikt_config_load(ctx, parts, SAMPLE_PARTS, path);
}

static void all_ranks_hold_the_values(void **state) {
    static const char text[] = "isolation: {psi: 512, rate: 0.1}\noutput:\n  file: \"x.h5\"\n";
    scratch file = name_file(*state, ".yaml");
    sample s;
    write_file(*state, file.path, text, strlen(text));
    assert_int_equal(load(*state, &s, file.path), IKT_OK);
    assert_int_equal(s.isolation.psi, 512);
    assert_true(s.isolation.rate == 0.1);
    assert_string_equal(s.output.file, "x.h5");
    remove_file(*state, file.path);
}

static void an_empty_file_changes_nothing(void **state) {
    scratch file = name_file(*state, ".yaml");
    sample s, defaults;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &defaults, parts);
    write_file(*state, file.path, "", 0);
    assert_int_equal(load(*state, &s, file.path), IKT_OK);
    assert_same_sample(&s, &defaults);
    remove_file(*state, file.path);
}

static void failures_are_the_same_everywhere(void **state) {
    static const struct {
        const char *text;
        size_t length;
        const char *message;
    } wrong[] = {{"isolation:\n  psi: 1\n", 20,
                  ", line 2: isolation.psi: '1' is not an integer from 2 to 65536"},
                 {"isolation\0: {}", 14, " is no text file: it holds a zero byte"}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        scratch file = name_file(*state, ".yaml");
        char message[256];
        sample s;
        write_file(*state, file.path, wrong[w].text, wrong[w].length);
        snprintf(message, sizeof message, "%s%s", file.path, wrong[w].message);
        assert_failed(*state, load(*state, &s, file.path), IKT_ERR_USAGE, message);
        remove_file(*state, file.path);
    }
}

static void files_that_cannot_be_read(void **state) {
    scratch missing = name_file(*state, "-missing.yaml"), folder = name_file(*state, "-folder");
    char message[256];
    sample s;
    snprintf(message, sizeof message, "%s cannot be read: No such file or directory", missing.path);
    assert_failed(*state, load(*state, &s, missing.path), IKT_ERR_FILE, message);
    if (ikt_rank(*state) == 0) assert_int_equal(mkdir(folder.path, 0700), 0);
    ikt_barrier(*state);
    snprintf(message, sizeof message, "%s is a folder; a file is needed", folder.path);
    assert_failed(*state, load(*state, &s, folder.path), IKT_ERR_FILE, message);
    remove_file(*state, folder.path);
}

/* A file of exactly 1 MiB is read, one byte more is refused before it is parsed. */
static void size_is_bounded(void **state) {
    ikt_context *ctx = *state;
    scratch file = name_file(ctx, ".yaml");
    char *text = NULL, message[256];
    sample s;
    assert_int_equal(ikt_alloc(ctx, &text, SIZE_MAX_OF_A_FILE + 1, 1, "test"), IKT_OK);
    memset(text, '\n', SIZE_MAX_OF_A_FILE + 1);
    memcpy(text, "isolation: {psi: 9}", 19);
    write_file(ctx, file.path, text, SIZE_MAX_OF_A_FILE);
    assert_int_equal(load(ctx, &s, file.path), IKT_OK);
    assert_int_equal(s.isolation.psi, 9);
    ikt_barrier(ctx);
    write_file(ctx, file.path, text, SIZE_MAX_OF_A_FILE + 1);
    snprintf(message, sizeof message, "%s is larger than 1 MiB: not a configuration", file.path);
    assert_failed(ctx, load(ctx, &s, file.path), IKT_ERR_FILE, message);
    ikt_free(&text);
    remove_file(ctx, file.path);
}

IKT_MPI_TESTS(ikt_test(all_ranks_hold_the_values), ikt_test(an_empty_file_changes_nothing),
              ikt_test(failures_are_the_same_everywhere), ikt_test(files_that_cannot_be_read),
              ikt_test(size_is_bounded))
