/* What the tests of files share: names of their own, files of given bytes, messages. */
#ifndef IKT_TEST_IO_FILES_H
#define IKT_TEST_IO_FILES_H

#include "support/ikt_test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/comm.h"

enum { IO_NAME_MAX = 128 };

/* "io-PID-suffix", the same on all ranks. */
static inline void io_name(ikt_context *ctx, const char *suffix, char name[IO_NAME_MAX]) {
    int64_t id = getpid();
    ikt_broadcast(ctx, &id, sizeof id, 0);
    snprintf(name, IO_NAME_MAX, "io-%lld-%s", (long long)id, suffix);
}

/* Writes a file on this rank, gzipped or not. */
static inline void io_write(const char *name, const void *bytes, size_t count, bool gzipped) {
    gzFile file = gzopen(name, gzipped ? "wb" : "wbT");
    assert_non_null(file);
    if (count > 0) assert_int_equal(gzwrite(file, bytes, (unsigned)count), (int)count);
    assert_int_equal(gzclose(file), Z_OK);
}

/* The message of a failure holds this text. */
static inline void io_expect(ikt_context *ctx, const char *text) {
    if (!strstr(ikt_message(ctx), text))
        fail_msg("'%s' is not in the message: %s", text, ikt_message(ctx));
    ikt_clear(ctx);
}

/* Removes a file once all ranks have done with it. */
static inline void io_remove(ikt_context *ctx, const char *name) {
    ikt_barrier(ctx);
    if (ikt_rank(ctx) == 0) unlink(name);
}

/* Path of real data, or NULL (with a word) where there is none. */
static inline const char *io_data(const char *name, char path[1024]) {
    const char *folder = getenv("IKT_TEST_DATA");
    snprintf(path, 1024, "%s/%s", folder ? folder : ".", name);
    if (folder && access(path, R_OK) == 0) return path;
    print_message("no real data: %s\n", path);
    return NULL;
}

#endif
