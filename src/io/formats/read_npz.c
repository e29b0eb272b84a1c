/* NPZ, numpy's archive: one of its arrays as the NPY file that it is, or the sparse matrix that
 * scipy has put in it. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/formats/npz.h"
#include "io/formats/reader.h"

enum { SHAPE_SIZE = 96 };

typedef struct {
    ikt_npz npz;
    ikt_npz_sparse sparse;
    ikt_reader *array; /* of the member that was chosen */
    char *name;        /* "FILE:ARRAY" */
} npz_self;

static bool npz_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* "1797 x 64, <f8". */
static void describe(const ikt_npy_header *header, char text[SHAPE_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < header->axes && used + 40 < SHAPE_SIZE; axis++)
        used += (size_t)snprintf(text + used, SHAPE_SIZE - used, "%s%lld", axis > 0 ? " x " : "",
                                 (long long)header->shape[axis]);
    snprintf(text + used, SHAPE_SIZE - used, "%s%s", used > 0 ? ", " : "a single ", header->type);
}

static ikt_array summary(const ikt_npz_member *member, const char *shape) {
    const ikt_npy_header *header = &member->header;
    const bool usable = header->numeric && header->axes > 0;
    return (ikt_array){member->name, usable, usable && header->axes > 1, shape};
}

static ikt_status choose(ikt_reader *reader, const char *name, int64_t *chosen) {
    const ikt_npz *npz = &((npz_self *)reader->self)->npz;
    ikt_array *arrays = NULL;
    char(*shape)[SHAPE_SIZE] = NULL;
    ikt_status st = ikt_alloc(reader->ctx, &arrays, npz->count, sizeof *arrays, "reader");
    if (st == IKT_OK) st = ikt_alloc(reader->ctx, &shape, npz->count, sizeof *shape, "reader");
    for (int64_t m = 0; m < npz->count && st == IKT_OK; m++) {
        describe(&npz->member[m].header, shape[m]);
        arrays[m] = summary(&npz->member[m], shape[m]);
    }
    if (st == IKT_OK)
        st = ikt_array_choose(reader->ctx, reader->path, arrays, npz->count, name, chosen);
    ikt_free(&arrays);
    ikt_free(&shape);
    return st;
}

static ikt_status open_member(ikt_reader *reader, const ikt_npz_member *member) {
    npz_self *self = reader->self;
    const size_t size = strlen(reader->path) + strlen(member->name) + 2;
    ikt_bytes bytes;
    IKT_TRY(ikt_alloc(reader->ctx, &self->name, (int64_t)size, 1, "reader"));
    snprintf(self->name, size, "%s:%s", reader->path, member->name);
    IKT_TRY(ikt_alloc(reader->ctx, &self->array, 1, sizeof *self->array, "reader"));
    *self->array = (ikt_reader){.ctx = reader->ctx, .ops = &ikt_reader_npy, .path = self->name};
    IKT_TRY(ikt_npz_bytes(&self->npz, member, &bytes));
    bytes.path = self->name;
    IKT_TRY(ikt_npy_begin(self->array, &bytes));
    reader->n = self->array->n;
    reader->d = self->array->d;
    reader->type = self->array->type;
    return IKT_OK;
}

static ikt_status open_sparse(ikt_reader *reader) {
    npz_self *self = reader->self;
    IKT_TRY(ikt_npz_sparse_open(&self->npz, &self->sparse));
    reader->n = self->sparse.n;
    reader->d = self->sparse.d;
    reader->type = self->sparse.type;
    reader->entries = self->sparse.entries;
    reader->sparse = true;
    return IKT_OK;
}

static ikt_status npz_open(ikt_reader *reader, const ikt_reader_options *options) {
    npz_self *self;
    int64_t chosen;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    IKT_TRY(ikt_reader_no_columns(reader, options,
                                  "labels are an array of it (--label-array) or of another file "
                                  "(--labels FILE:NAME)"));
    IKT_TRY(ikt_npz_open(reader->ctx, reader->path, &self->npz));
    const bool asked = options->array && options->array[0];
    if (!asked && ikt_npz_is_sparse(&self->npz)) return open_sparse(reader);
    IKT_TRY(choose(reader, options->array, &chosen));
    return open_member(reader, &self->npz.member[chosen]);
}

static ikt_status npz_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    return ikt_reader_read(((npz_self *)reader->self)->array, count, rows, labels);
}

static ikt_status npz_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    return ikt_npz_sparse_read(&((npz_self *)reader->self)->sparse, rows, entries, block);
}

static ikt_status npz_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    *entries = ikt_npz_sparse_count(&((npz_self *)reader->self)->sparse, rows);
    return IKT_OK;
}

static void npz_close(ikt_reader *reader) {
    npz_self *self = reader->self;
    if (!self) return;
    ikt_reader_close(&self->array);
    ikt_npz_sparse_close(&self->sparse);
    ikt_npz_close(&self->npz);
    ikt_free(&self->name);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_npz = {.name = "NPZ",
                                       .probe = npz_probe,
                                       .open = npz_open,
                                       .read = npz_read,
                                       .read_sparse = npz_read_sparse,
                                       .count = npz_count,
                                       .close = npz_close};
