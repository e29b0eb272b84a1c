/* Printing records. */
#include "report.h"

#include "app/json.h"
#include "base/build.h"
#include "base/cpu.h"
#include "iktsne/build.h"

static void json_limits(ikt_json *json, const bench_record *r) {
    ikt_json_begin(json, "limits", '[');
    for (int l = 0; l < BENCH_LIMITS && r->limit[l].name[0]; l++) {
        ikt_json_begin(json, NULL, '{');
        ikt_json_text(json, "name", r->limit[l].name);
        ikt_json_real(json, "rate", r->limit[l].rate);
        ikt_json_real(json, "ratio", r->limit[l].ratio);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, ']');
}

static void json_record(ikt_json *json, const bench *b, const bench_record *r) {
    ikt_json_begin(json, NULL, '{');
    ikt_json_text(json, "name", r->path);
    ikt_json_text(json, "size", r->size);
    ikt_json_text(json, "unit", r->unit);
    ikt_json_begin(json, "seconds", '{');
    ikt_json_real(json, "least", r->least);
    ikt_json_real(json, "median", r->median);
    ikt_json_end(json, '}');
    ikt_json_int(json, "repeats", r->repeats);
    ikt_json_real(json, "rate", r->rate);
    json_limits(json, r);
    ikt_json_int(json, "threads", ikt_threads(b->ctx));
    ikt_json_int(json, "ranks", ikt_size(b->ctx));
    ikt_json_text(json, "isa", ikt_isa_name(ikt_cpu_isa()));
    ikt_json_text(json, "version", IKT_VERSION);
    ikt_json_text(json, "commit", ikt_commit);
    ikt_json_end(json, '}');
}

void bench_print_json(const bench *b, FILE *file) {
    ikt_json json = {file, 0, false};
    ikt_json_begin(&json, NULL, '[');
    for (int64_t i = 0; i < b->count; i++)
        json_record(&json, b, &b->record[i]);
    ikt_json_end(&json, ']');
}

/* Three digits and a unit of thousands: "12.3 G". */
static void print_rate(FILE *file, double rate) {
    static const char prefix[] = " kMGTP";
    int thousands = 0;
    for (; rate >= 999.5 && prefix[thousands + 1]; thousands++)
        rate /= 1000;
    int decimals = rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0;
    fprintf(file, "%.*f", decimals, rate);
    if (thousands > 0) fprintf(file, " %c", prefix[thousands]);
}

static void markdown_record(const bench_record *r, FILE *file) {
    fprintf(file, "| %s | %s | %.3f | %.3f | ", r->path, r->size, 1e3 * r->least, 1e3 * r->median);
    print_rate(file, r->rate);
    fprintf(file, " %s/s |", r->unit);
    if (!r->limit[0].name[0]) fprintf(file, " | | |\n");
    for (int l = 0; l < BENCH_LIMITS && r->limit[l].name[0]; l++) {
        fprintf(file, l > 0 ? "| | | | | | %s | " : " %s | ", r->limit[l].name);
        print_rate(file, r->limit[l].rate);
        fprintf(file, " | %.2f |\n", r->limit[l].ratio);
    }
}

void bench_print_markdown(const bench *b, FILE *file) {
    int ranks = ikt_size(b->ctx), threads = ikt_threads(b->ctx);
    fprintf(file, "%d rank%s x %d thread%s, %s, version %s (%s).\n\n", ranks, ranks > 1 ? "s" : "",
            threads, threads > 1 ? "s" : "", ikt_isa_name(ikt_cpu_isa()), IKT_VERSION, ikt_commit);
    fprintf(file, "| path | size | least ms | median ms | rate | limit | its rate | ratio |\n"
                  "|---|---|--:|--:|--:|---|--:|--:|\n");
    for (int64_t i = 0; i < b->count; i++)
        markdown_record(&b->record[i], file);
}
