/* A file appears complete or not at all. */
#include "io/io_files.h"

#include <dirent.h>
#include <hdf5.h>

#include "base/memory.h"
#include "io/convert/table_writer.h"
#include "io/sources/source.h"

/* Names in the folder that begin with this one: the file and what was left beside it. */
static int64_t files_like(ikt_context *ctx, const char *name) {
    int64_t count = 0;
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) {
        DIR *folder = opendir(".");
        for (struct dirent *entry; (entry = readdir(folder));)
            count += strncmp(entry->d_name, name, strlen(name)) == 0;
        closedir(folder);
    }
    return ikt_sum_one(ctx, count);
}

static ikt_status write_number(ikt_context *ctx, const char *name, bool overwrite, float number,
                               ikt_status local) {
    ikt_table_writer *writer;
    int64_t count = ikt_rank(ctx) == 0;
    IKT_TRY(ikt_table_create(ctx, name, overwrite, 1, 1, IKT_TYPE_F32, false, &writer));
    ikt_status st = ikt_table_write(writer, 0, count, &number, NULL);
    if (st == IKT_OK && local != IKT_OK) st = ikt_fail(ctx, local, "gave up");
    return ikt_table_close(&writer, st);
}

static float read_number(ikt_context *ctx, const char *name) {
    ikt_source *source;
    float number = 0;
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read(source, 0, 1, &number), IKT_OK);
    ikt_source_close(&source);
    return number;
}

static void overwriting(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "over.h5", name);
    assert_int_equal(write_number(ctx, name, false, 1, IKT_OK), IKT_OK);
    assert_int_equal(write_number(ctx, name, false, 2, IKT_OK), IKT_ERR_FILE);
    io_expect(ctx, "exists already");
    assert_true(read_number(ctx, name) == 1);
    assert_int_equal(write_number(ctx, name, true, 3, IKT_OK), IKT_OK);
    assert_true(read_number(ctx, name) == 3);
    assert_int_equal(files_like(ctx, name), 1);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* One rank gives up: no file, or the old one, and nothing beside it. */
static void giving_up(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX];
    io_name(ctx, "give.h5", name);
    bool mine = ikt_rank(ctx) == ikt_size(ctx) - 1;
    ikt_status local = mine ? IKT_ERR_DATA : IKT_OK;
    assert_int_equal(write_number(ctx, name, false, 1, local), IKT_ERR_DATA);
    io_expect(ctx, "gave up");
    assert_int_equal(files_like(ctx, name), 0);
    assert_int_equal(write_number(ctx, name, false, 1, IKT_OK), IKT_OK);
    assert_int_equal(write_number(ctx, name, true, 2, local), IKT_ERR_DATA);
    ikt_clear(ctx);
    assert_true(read_number(ctx, name) == 1);
    assert_int_equal(files_like(ctx, name), 1);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void unwritable(void **state) {
    ikt_context *ctx = *state;
    assert_int_equal(write_number(ctx, "no/such/folder/x.h5", false, 1, IKT_OK), IKT_ERR_FILE);
    io_expect(ctx, "no/such/folder/x.h5 cannot be written: No such file");
    assert_int_equal(write_number(ctx, "/proc/x.h5", false, 1, IKT_OK), IKT_ERR_FILE);
    io_expect(ctx, "/proc/x.h5 cannot be written");
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Attributes are text of any length, in UTF-8. */
static void attributes(void **state) {
    ikt_context *ctx = *state;
    char name[IO_NAME_MAX], *found;
    static char longest[3000000]; /* more than the 64 KiB of an object's header */
    ikt_source *source;
    ikt_table_writer *writer;
    const float number = 1;
    io_name(ctx, "text.h5", name);
    memset(longest, 'a', sizeof longest - 1);
    assert_int_equal(ikt_table_create(ctx, name, true, 1, 1, IKT_TYPE_F32, false, &writer), IKT_OK);
    assert_int_equal(ikt_table_write(writer, 0, ikt_rank(ctx) == 0, &number, NULL), IKT_OK);
    assert_int_equal(ikt_table_attribute(writer, "long", longest), IKT_OK);
    assert_int_equal(ikt_table_attribute(writer, "empty", ""), IKT_OK);
    assert_int_equal(ikt_table_attribute(writer, "greek", "\xCF\x88 = 64"), IKT_OK);
    assert_int_equal(ikt_table_close(&writer, IKT_OK), IKT_OK);
    assert_int_equal(ikt_source_open(ctx, name, "X", 0, &source), IKT_OK);
    assert_int_equal(ikt_source_read_text(source, "long", &found), IKT_OK);
    assert_string_equal(found, longest);
    ikt_free(&found);
    assert_int_equal(ikt_source_read_text(source, "empty", &found), IKT_OK);
    assert_string_equal(found, "");
    ikt_free(&found);
    assert_int_equal(ikt_source_read_text(source, "greek", &found), IKT_OK);
    assert_string_equal(found, "\xCF\x88 = 64");
    ikt_free(&found);
    assert_int_equal(ikt_source_read_text(source, "none", &found), IKT_OK);
    assert_null(found);
    ikt_source_close(&source);
    io_remove(ctx, name);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

IKT_MPI_TESTS(ikt_test(overwriting), ikt_test(giving_up), ikt_test(unwritable),
              ikt_test(attributes))
