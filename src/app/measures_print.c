/* Measures as a table, and as JSON. */
#include "app/measures_print.h"

void ikt_measures_print(const ikt_measures *measures) {
    for (int64_t i = 0; i < measures->count; i++) {
        const ikt_measure *m = &measures->list[i];
        printf("%-26s %12.6g   %s", m->name, m->value, m->note);
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
