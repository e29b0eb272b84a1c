/* Reads what a list of cases names, as `embed` would, and writes it plainly:
 *
 *   dump_source CASES
 *
 * A line of CASES: NAME FILE DATASET LABELS TRANSPOSED ROWS RAW, blanks between; LABELS "-" for
 * none, TRANSPOSED auto, yes or no, RAW "-" or KIND,BYTES,big|little,COLUMNS,SKIP. Of each case
 * NAME.rows holds the rows as float64, NAME.labels the labels as int64, NAME.names the names of the
 * classes (no file where there are none), and NAME.said a line: status, type, rows, columns,
 * message. Every rank reads its share; rank 0 writes. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/sources/source.h"

enum { WORD = 256 };

typedef struct {
    char name[WORD], file[WORD], dataset[WORD], labels[WORD], transposed[WORD], raw[WORD];
    long long rows;
} wish;

static double value_at(ikt_type type, const void *rows, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)rows)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)rows)[i]
                                  : ((const double *)rows)[i];
}

static ikt_source_options options_of(const wish *w) {
    ikt_source_options o = {.dataset = w->dataset, .rows = w->rows};
    char order[WORD] = "";
    long long columns = 0, skip = 0;
    if (strcmp(w->labels, "-") != 0) o.labels = w->labels;
    o.transposed = strcmp(w->transposed, "yes") == 0  ? IKT_TRANSPOSED_YES
                   : strcmp(w->transposed, "no") == 0 ? IKT_TRANSPOSED_NO
                                                      : IKT_TRANSPOSED_AUTO;
    if (sscanf(w->raw, "%c,%d,%255[a-z],%lld,%lld", &o.raw.element.kind, &o.raw.element.bytes,
               order, &columns, &skip) == 5) {
        o.raw.columns = columns;
        o.raw.skip = skip;
        o.raw.element.big = strcmp(order, "big") == 0;
    }
    return o;
}

/* Gathers `count` numbers of 8 bytes of each rank and writes them on rank 0. */
static void write_all(ikt_context *ctx, const char *name, const char *ending, const void *own,
                      int64_t count, int64_t total) {
    char path[2 * WORD];
    int64_t *counts = NULL;
    double *all = NULL;
    if (ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "test") != IKT_OK ||
        ikt_alloc(ctx, &all, total, sizeof *all, "test") != IKT_OK)
        ikt_abort(ctx, "no memory");
    ikt_gather_counts(ctx, count, counts);
    ikt_allgather(ctx, own, count, 8, all, counts);
    snprintf(path, sizeof path, "%s.%s", name, ending);
    FILE *file = ikt_rank(ctx) == 0 ? fopen(path, "wb") : NULL;
    if (file) fwrite(all, 8, (size_t)total, file);
    if (file) fclose(file);
    ikt_free(&counts);
    ikt_free(&all);
}

static ikt_status dump_rows(ikt_context *ctx, const wish *w, ikt_source *source,
                            const ikt_rows *distribution) {
    const int64_t d = ikt_source_columns(source), half = distribution->count / 2;
    const int64_t row = d * (int64_t)ikt_type_size(ikt_source_type(source));
    char *rows = NULL;
    double *wide = NULL;
    IKT_TRY(ikt_alloc(ctx, &rows, distribution->count * d, 8, "test"));
    IKT_TRY(ikt_alloc(ctx, &wide, distribution->count * d, 8, "test"));
    /* In two parts that meet within blocks of all kinds. */
    ikt_status st = ikt_source_read(source, distribution->first, half, rows);
    if (st == IKT_OK)
        st = ikt_source_read(source, distribution->first + half, distribution->count - half,
                             rows + half * row);
    for (int64_t i = 0; i < distribution->count * d; i++)
        wide[i] = value_at(ikt_source_type(source), rows, i);
    if (st == IKT_OK)
        write_all(ctx, w->name, "rows", wide, distribution->count * d, distribution->n * d);
    ikt_free(&rows);
    ikt_free(&wide);
    return st;
}

static void write_names(ikt_context *ctx, const char *name, const char *names) {
    char path[2 * WORD];
    snprintf(path, sizeof path, "%s.names", name);
    FILE *file = names && ikt_rank(ctx) == 0 ? fopen(path, "wb") : NULL;
    if (file) fputs(names, file);
    if (file) fclose(file);
}

static ikt_status dump_labels(ikt_context *ctx, const wish *w, ikt_source *source,
                              const ikt_rows *rows) {
    const int64_t half = rows->count / 3;
    int64_t *labels = NULL;
    char *names = NULL;
    bool present = false;
    if (strcmp(w->labels, "-") == 0) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &labels, rows->count, 8, "test"));
    ikt_status st = ikt_source_read_labels(source, w->labels, rows->first, half, labels, &present);
    if (st == IKT_OK && present)
        st = ikt_source_read_labels(source, w->labels, rows->first + half, rows->count - half,
                                    labels + half, &present);
    if (st == IKT_OK && !present) st = ikt_source_no_labels(source, w->labels, "input.labels");
    if (st == IKT_OK) st = ikt_source_read_text(source, "label_names", &names);
    if (st == IKT_OK) write_all(ctx, w->name, "labels", labels, rows->count, rows->n);
    if (st == IKT_OK) write_names(ctx, w->name, names);
    ikt_free(&labels);
    ikt_free(&names);
    return st;
}

static void dump(ikt_context *ctx, const wish *w) {
    const ikt_source_options options = options_of(w);
    ikt_source *source = NULL;
    char path[2 * WORD], about[WORD] = "- 0 0";
    ikt_status st = ikt_source_open_with(ctx, w->file, &options, &source);
    if (st == IKT_OK) {
        const ikt_rows rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
        snprintf(about, sizeof about, "%s %lld %lld", ikt_type_name(ikt_source_type(source)),
                 (long long)rows.n, (long long)ikt_source_columns(source));
        st = dump_rows(ctx, w, source, &rows);
        if (st == IKT_OK) st = dump_labels(ctx, w, source, &rows);
    }
    ikt_source_close(&source);
    snprintf(path, sizeof path, "%s.said", w->name);
    FILE *file = ikt_rank(ctx) == 0 ? fopen(path, "w") : NULL;
    if (file) fprintf(file, "%d %s %s\n", (int)st, about, st == IKT_OK ? "" : ikt_message(ctx));
    if (file) fclose(file);
    ikt_clear(ctx);
    if (ikt_memory_now(ctx) != 0) ikt_abort(ctx, "memory is left");
}

int main(int argc, char **argv) {
    ikt_context *ctx = NULL;
    wish w;
    MPI_Init(&argc, &argv);
    FILE *cases = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!cases || ikt_context_create(MPI_COMM_WORLD, 1, &ctx) != IKT_OK) {
        fprintf(stderr, "usage: dump_source CASES\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (fscanf(cases, "%255s %255s %255s %255s %255s %lld %255s", w.name, w.file, w.dataset,
                  w.labels, w.transposed, &w.rows, w.raw) == 7)
        dump(ctx, &w);
    fclose(cases);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
