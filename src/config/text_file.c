/* Small text files that every rank needs. */
#include "config/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

enum { FILE_SIZE_MAX = 1 << 20 };

/* LOCAL. `text` has room for FILE_SIZE_MAX + 1 bytes. */
static ikt_status read_file(ikt_context *ctx, const char *path, char *text, int64_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    size_t got = fread(text, 1, FILE_SIZE_MAX + 1, file);
    ikt_status st = IKT_OK;
    if (ferror(file))
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    else if (got > FILE_SIZE_MAX)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s is larger than 1 MiB: not a configuration", path);
    else if (memchr(text, '\0', got))
        st = ikt_fail(ctx, IKT_ERR_USAGE, "%s is no text file: it holds a zero byte", path);
    fclose(file);
    *length = (int64_t)got;
    return st;
}

ikt_status ikt_text_file_load(ikt_context *ctx, const char *path, char **text) {
    int64_t length = 0;
    ikt_status st = ikt_alloc(ctx, text, FILE_SIZE_MAX + 2, 1, "text file");
    if (st == IKT_OK && ikt_rank(ctx) == 0) st = read_file(ctx, path, *text, &length);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_free(text);
        return st;
    }
    length = ikt_max_one(ctx, length);
    ikt_broadcast(ctx, *text, length, 0); /* the zero behind it is there from the start */
    return IKT_OK;
}
