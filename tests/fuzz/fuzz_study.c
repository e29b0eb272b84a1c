/* The file of a study: YAML of any depth. */
#include <string.h>

#include "base/memory.h"
#include "evaluate/measure.h"
#include "harness.h"
#include "study/spec.h"

/* A text of 1 MiB, and what lists of values can become. */
static const int64_t memory_most = (int64_t)64 << 20;

static void check_names(const ikt_study *study) {
    for (int64_t m = 0; m < study->n_measures; m++)
        fuzz_check(ikt_measure_find(study->measure[m]) != NULL, "a measure that does not exist");
    for (int64_t i = 0; i < study->n_data; i++) {
        const ikt_study_data *data = &study->data[i];
        fuzz_check(data->name[0] != '\0', "a data set without a name");
        fuzz_check(ikt_study_find_data(study, data->name) == i, "two data sets of one name");
        fuzz_check((data->file[0] != '\0') + (data->generator[0] != '\0') == 1,
                   "a data set that is neither a file nor generated");
        fuzz_check(data->n_seeds >= 1 && data->n_seeds <= study->n_seeds,
                   "more seeds than there are");
    }
}

static void check_methods(const ikt_study *study) {
    fuzz_check(study->n_methods > 0 && study->n_data > 0 && study->n_measures > 0 &&
                   study->n_seeds > 0,
               "an accepted study has nothing to do");
    for (int64_t m = 0; m < study->n_methods; m++)
        fuzz_check(study->method[m].name[0] != '\0', "a method without a name");
    for (int64_t m = 0; m < study->n_methods; m++)
        for (int a = 0; a < study->method[m].axes; a++)
            fuzz_check(study->method[m].axis[a].key && study->method[m].axis[a].values.count > 0,
                       "an axis without a key or without values");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ikt_context *ctx = fuzz_context();
    ikt_study study;
    ikt_status st = ikt_study_read(ctx, fuzz_file(data, size), &study);
    fuzz_check(st == IKT_OK || st == IKT_ERR_USAGE || st == IKT_ERR_FILE, "an undocumented error");
    if (st == IKT_OK) {
        check_methods(&study);
        check_names(&study);
        ikt_study_destroy(&study);
    }
    fuzz_outcome(ctx, st, memory_most);
    return 0;
}
