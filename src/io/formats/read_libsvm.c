/* LIBSVM's text, read by one rank: what is compressed, which has no ranges. See libsvm_text.h. */
#include "base/memory.h"
#include "io/formats/libsvm_text.h"
#include "io/formats/reader.h"

typedef struct {
    ikt_libsvm_part part;
    int64_t origin; /* index of the first column */
} libsvm_self;

static ikt_status first_pass(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    ikt_libsvm_part *part = &self->part;
    const ikt_status st = ikt_libsvm_scan(part);
    if (part->lines.fault.status != IKT_OK)
        return ikt_text_fault_report(reader->ctx, reader->path, &part->lines.fault, 0);
    IKT_TRY(st);
    reader->n = part->rows;
    reader->entries = part->entries;
    ikt_libsvm_columns(part->least, part->greatest, &self->origin, &reader->d);
    return ikt_csv_labels_list(reader->ctx, reader->path, &part->labels, &reader->classes);
}

static ikt_status libsvm_open(ikt_reader *reader, const ikt_reader_options *options) {
    libsvm_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    IKT_TRY(ikt_reader_no_columns(reader, options, "its labels are the first word of each line"));
    reader->type = options->as ? (ikt_type)(options->as - 1) : IKT_TYPE_F32;
    reader->labels = reader->sparse = true;
    self->part.type = reader->type;
    self->part.lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    IKT_TRY(first_pass(reader));
    return ikt_libsvm_rewind(&self->part);
}

static ikt_status libsvm_read(ikt_reader *reader, int64_t rows, int64_t entries,
                              ikt_sparse_block *block) {
    libsvm_self *self = reader->self;
    return ikt_libsvm_read(&self->part, rows, entries, self->origin, reader->d, block);
}

static ikt_status libsvm_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    libsvm_self *self = reader->self;
    IKT_TRY(ikt_libsvm_count(&self->part, rows, entries));
    return ikt_libsvm_rewind(&self->part);
}

static void libsvm_close(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    if (!self) return;
    ikt_libsvm_free(&self->part);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_libsvm = {.name = "LIBSVM",
                                          .probe = ikt_libsvm_probe,
                                          .open = libsvm_open,
                                          .read_sparse = libsvm_read,
                                          .count = libsvm_count,
                                          .close = libsvm_close};
