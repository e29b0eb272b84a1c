/* iktsne align: an embedding turned, mirrored, scaled and shifted onto another. */
#include <stdio.h>

#include "app/embedding_file.h"
#include "app/print.h"
#include "app/verb.h"
#include "base/files.h"
#include "transform/align.h"

typedef struct {
    ikt_align_request request;
    bool overwrite, json;
    const char *path[3]; /* run, reference, output */
} command;

static void print_json(const command *w, const ikt_aligned *a) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "run", w->path[0]);
    ikt_json_int(&json, "rows", a->distribution.n);
    ikt_json_int(&json, "dimensions", a->motion.q);
    ikt_json_hash(&json, "hash", a->hash);
    ikt_facts_json(&json, a->facts);
    ikt_json_begin(&json, "classes", '[');
    for (int64_t k = 0; k < a->classes; k++) {
        ikt_json_begin(&json, NULL, '{');
        ikt_json_int(&json, "label", a->class[k].label);
        ikt_json_int(&json, "rows", a->class[k].rows);
        ikt_json_real(&json, "centre_shift", a->class[k].shift);
        ikt_json_real(&json, "displacement", a->class[k].rms);
        ikt_json_end(&json, '}');
    }
    ikt_json_end(&json, ']');
    ikt_json_end(&json, '}');
}

static void print_text(const command *w, const ikt_aligned *a) {
    const ikt_procrustes *m = &a->motion;
    printf("%s: %s aligned to %s by %lld of %lld rows\n", w->path[2], w->path[0], w->path[1],
           (long long)a->rows, (long long)a->distribution.n);
    printf(
        "residual         %.6g (root mean square distance from the reference, whose size is 1)\n",
        a->residual);
    printf("scale            %.6g\n", m->scale);
    printf("rotation         %.4f degrees%s\n", ikt_procrustes_angle(m),
           m->is_mirrored ? ", after mirroring the last coordinate" : "");
    printf("embedding hash   %016llx\n", (unsigned long long)a->hash);
    if (a->classes == 0) return;
    printf("\nclass                 rows   centre moved   rows moved (root mean square)\n");
    for (int64_t k = 0; k < a->classes; k++)
        printf("%-16lld %9lld %14.4f %12.4f\n", (long long)a->class[k].label,
               (long long)a->class[k].rows, a->class[k].shift, a->class[k].rms);
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command w;
    bool help;
    const ikt_option options[] = {
        {"rows", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, &w.request.rows,
         "Align by the first N rows of both files, which may then have different numbers of rows; "
         "0 aligns by all rows, whose number must then be the same in both"},
        {"reflection", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL, &w.request.mirror,
         "Mirror the embedding where that brings it nearer"},
        {"scale", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL, &w.request.scale,
         "Scale the embedding; --no-scale keeps its distances"},
        {"overwrite", IKT_FLAG(&w.overwrite), "Replace OUT.h5 where it exists"},
        {"json", IKT_FLAG(&w.json), "Print the summary as JSON"},
        {0}};
    IKT_TRY(
        ikt_options_parse(ctx, &ikt_verb_align, options, argc, argv, w.path, 3, 3, NULL, &help));
    if (help) return IKT_OK;
    w.request.run = w.path[0];
    w.request.reference = w.path[1];
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "RUN.h5", w.path[0]);
    ikt_files_add(&files, IKT_FILE_READ, "REFERENCE.h5", w.path[1]);
    ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "OUT.h5", w.path[2], ".h5", true);
    IKT_TRY(ikt_files_check(&files));
    IKT_TRY(ikt_inputs_check(ctx, w.path, 2));
    IKT_TRY(ikt_atomic_check(ctx, w.path[2], w.overwrite));
    ikt_aligned a IKT_AT_END(ikt_aligned_destroy) = {.file = NULL};
    IKT_TRY(ikt_align_run(ctx, &w.request, &a));
    IKT_TRY(ikt_align_write(ctx, &w.request, &a, w.path[2], w.overwrite));
    if (ikt_rank(ctx) == 0) (w.json ? print_json : print_text)(&w, &a);
    return IKT_OK;
}

const ikt_verb ikt_verb_align = {
    "align", "RUN.h5 REFERENCE.h5 OUT.h5 [options]",
    "Turn, mirror, scale and shift an embedding onto another one of the same rows",
    "The result is as near to the reference as possible in the sense of least squares (orthogonal "
    "Procrustes analysis). RUN.h5 and REFERENCE.h5 may be " IKT_MAP_HELP,
    run};
