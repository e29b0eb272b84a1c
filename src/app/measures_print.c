/* Measures as a table, and as JSON; the curve R(k) as CSV. */
#include "app/measures_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/atomic_file.h"

void ikt_measures_print(const ikt_measures *measures) {
    for (int64_t i = 0; i < measures->count; i++) {
        const ikt_measure *m = &measures->list[i];
        if (isnan(m->value))
            printf("%-30s %12s   %s", m->name, "none", m->note);
        else
            printf("%-30s %12.6g   %s", m->name, m->value, m->note);
        if (m->sample > 0) printf("; %lld rows sampled", (long long)m->sample);
        printf("\n");
    }
}

void ikt_measures_json(ikt_json *json, const ikt_measures *measures) {
    ikt_json_begin(json, "measures", '{');
    for (int64_t i = 0; i < measures->count; i++) {
        const ikt_measure *m = &measures->list[i];
        ikt_json_begin(json, m->name, '{');
        ikt_json_real(json, "value", m->value);
        if (m->sample > 0) ikt_json_int(json, "sample", m->sample);
        ikt_json_text(json, "note", m->note);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

static ikt_status write_lines(ikt_context *ctx, const char *path, const char *shown,
                              const ikt_rank_curve *curve) {
    FILE *file = fopen(path, "w");
    if (!file)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, strerror(errno));
    fprintf(file, "k,Q,R\n");
    for (int64_t k = 1; k <= curve->count; k++)
        fprintf(file, "%lld,%.17g,%.17g\n", (long long)k, curve->overlap[k - 1],
                curve->rescaled[k - 1]);
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (!failed) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, strerror(errno));
}

ikt_status ikt_curve_write(ikt_context *ctx, const char *path, bool overwrite,
                           const ikt_rank_curve *curve) {
    char temporary[IKT_PATH_MAX];
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_atomic_begin_stream(ctx, path, overwrite, temporary));
    if (ikt_rank(ctx) == 0) st = write_lines(ctx, temporary, path, curve);
    return ikt_atomic_end(ctx, path, temporary, st);
}
