/* A one-dimensional array of an NPZ archive. See npz.h. */
#include "io/formats/npz.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 1 << 14 }; /* numbers */

static ikt_status cannot(const ikt_npz_column *c, ikt_status status, const char *what) {
    return ikt_fail(c->ctx, status, "%s: the array '%s' of its sparse matrix %s", c->path, c->name,
                    what);
}

static ikt_status check(ikt_npz_column *c, const ikt_npy_header *header) {
    if (!header->numeric || header->axes != 1)
        return cannot(c, IKT_ERR_DATA, "is not a list of numbers");
    c->element = header->element;
    c->length = header->shape[0];
    const int64_t bytes = ikt_binary_product(c->length, c->element.bytes);
    if (bytes < 0 || c->bytes.size != header->bytes + bytes)
        return cannot(c, IKT_ERR_FILE, "has another length than its header announces");
    return ikt_alloc(c->ctx, &c->stored, BLOCK, sizeof(double), "reader");
}

ikt_status ikt_npz_column_open(const ikt_npz *npz, const char *name, ikt_npz_column *c) {
    ikt_npy_header header;
    const ikt_npz_member *member = ikt_npz_find(npz, name);
    *c = (ikt_npz_column){.ctx = npz->ctx, .path = npz->path, .name = name};
    if (!member) return cannot(c, IKT_ERR_DATA, "is missing");
    IKT_TRY(ikt_npz_bytes(npz, member, &c->bytes));
    IKT_TRY(ikt_npy_header_read(&c->bytes, npz->path, &header));
    return check(c, &header);
}

/* The next numbers, a block at most, into c->stored. */
static ikt_status read_block(ikt_npz_column *c, int64_t count) {
    int64_t got;
    IKT_TRY(ikt_bytes_read(&c->bytes, c->stored, count * c->element.bytes, &got));
    c->done += count;
    return got == count * c->element.bytes ? IKT_OK : cannot(c, IKT_ERR_FILE, "is truncated");
}

ikt_status ikt_npz_column_reals(ikt_npz_column *c, int64_t count, double *values) {
    if (count > c->length - c->done) return cannot(c, IKT_ERR_DATA, "is too short");
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t now = count - first < BLOCK ? count - first : BLOCK;
        IKT_TRY(read_block(c, now));
        for (int64_t i = 0; i < now; i++)
            if (!ikt_element_number(c->element, c->stored + i * c->element.bytes,
                                    &values[first + i]))
                return cannot(c, IKT_ERR_DATA,
                              "holds an integer that no floating number holds exactly");
    }
    return IKT_OK;
}

ikt_status ikt_npz_column_ints(ikt_npz_column *c, int64_t count, int64_t *values) {
    double block[256];
    const int64_t most = sizeof block / sizeof *block;
    if (c->element.kind == 'f') return cannot(c, IKT_ERR_DATA, "is not one of integers");
    for (int64_t first = 0; first < count; first += most) {
        const int64_t now = count - first < most ? count - first : most;
        IKT_TRY(ikt_npz_column_reals(c, now, block));
        for (int64_t i = 0; i < now; i++)
            values[first + i] = (int64_t)block[i];
    }
    return IKT_OK;
}

ikt_status ikt_npz_column_all(const ikt_npz *npz, const char *name, int64_t **values,
                              int64_t *length) {
    ikt_npz_column c;
    *values = NULL;
    ikt_status st = ikt_npz_column_open(npz, name, &c);
    if (st == IKT_OK) st = ikt_alloc(npz->ctx, values, c.length, sizeof **values, "reader");
    if (st == IKT_OK) st = ikt_npz_column_ints(&c, c.length, *values);
    *length = c.length;
    ikt_npz_column_close(&c);
    return st;
}

void ikt_npz_column_close(ikt_npz_column *c) {
    ikt_bytes_close(&c->bytes);
    ikt_free(&c->stored);
}
