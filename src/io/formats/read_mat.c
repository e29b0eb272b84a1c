/* MATLAB's MAT files, versions 5 to 7 (mat_file.h): a matrix of numbers, full or sparse, whose rows
 * are spread over the whole variable, so that is held in memory. */
#include <string.h>

#include "base/memory.h"
#include "io/formats/mat_file.h"
#include "io/formats/reader.h"

typedef struct {
    ikt_mat_matrix matrix;
    ikt_sparse_block whole; /* of a sparse one */
} mat_self;

static bool mat_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 128 && memcmp(head, "MATLAB ", 7) == 0;
}

static ikt_status read_sparse_matrix(ikt_reader *reader) {
    mat_self *self = reader->self;
    IKT_TRY(ikt_mat_rows(&self->matrix, reader->path, &self->whole));
    ikt_mat_close(&self->matrix);
    reader->sparse = true;
    reader->type = IKT_TYPE_F64;
    reader->entries = self->whole.entries;
    return IKT_OK;
}

static ikt_status mat_open(ikt_reader *reader, const ikt_reader_options *options) {
    mat_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    IKT_TRY(ikt_reader_no_columns(reader, options,
                                  "labels are a variable of it (--label-array) or of another file "
                                  "(--labels FILE:NAME)"));
    IKT_TRY(ikt_mat_read(reader->ctx, reader->path, options->array, &self->matrix));
    reader->n = self->matrix.n;
    reader->d = self->matrix.d;
    if (self->matrix.sparse) return read_sparse_matrix(reader);
    reader->type = ikt_element_type(self->matrix.element);
    return IKT_OK;
}

/* Rows out of a matrix stored by columns. */
static ikt_status mat_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    (void)labels;
    const ikt_mat_matrix *matrix = &((mat_self *)reader->self)->matrix;
    const ikt_binary array = {.element = matrix->element, .stored = matrix->values};
    const size_t size = ikt_type_size(reader->type);
    for (int64_t c = 0; c < reader->d; c++)
        IKT_TRY(ikt_binary_convert(reader, &array, c * reader->n + reader->done, count,
                                   (char *)rows + (size_t)c * size, reader->d));
    return IKT_OK;
}

static ikt_status mat_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    const mat_self *self = reader->self;
    return ikt_sparse_whole_read(reader->ctx, &self->whole, reader->done, rows, entries, block);
}

static ikt_status mat_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    *entries = ikt_sparse_block_first(&((const mat_self *)reader->self)->whole, rows);
    return IKT_OK;
}

static void mat_close(ikt_reader *reader) {
    mat_self *self = reader->self;
    if (!self) return;
    ikt_mat_close(&self->matrix);
    ikt_sparse_block_free(&self->whole);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_mat = {.name = "MATLAB",
                                       .probe = mat_probe,
                                       .open = mat_open,
                                       .read = mat_read,
                                       .read_sparse = mat_read_sparse,
                                       .count = mat_count,
                                       .close = mat_close};
