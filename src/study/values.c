/* Lists of values as studies write them. */
#include "study/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "config/value.h"

static ikt_status add(ikt_context *ctx, const ikt_yaml *yaml, int node,
                      const ikt_study_value *value, ikt_study_values *out) {
    if (out->count == IKT_STUDY_VALUES_MOST)
        return ikt_yaml_fail(ctx, yaml, node, "a list has at most %d values",
                             (int)IKT_STUDY_VALUES_MOST);
    IKT_TRY(ikt_resize(ctx, &out->value, out->count + 1, sizeof *out->value, "study"));
    out->value[out->count++] = *value;
    return IKT_OK;
}

static ikt_study_value number_value(double number, bool is_share) {
    ikt_study_value value = {.is_number = true, .is_share = is_share, .number = number};
    char digits[IKT_REAL_TEXT];
    ikt_real_print(number, digits);
    snprintf(value.text, sizeof value.text, "%s%s", digits, is_share ? "n" : "");
    return value;
}

static ikt_study_value parse(const char *text) {
    ikt_study_value value = {.is_number = false};
    char *end;
    double number = strtod(text, &end);
    const bool is_share = end != text && strcmp(end, "n") == 0;
    if (end != text && (is_share || *end == '\0') && isfinite(number))
        value = number_value(number, is_share);
    snprintf(value.text, sizeof value.text, "%s", text);
    return value;
}

/* From the last value to `last`, by the step of the last two. Each is the first plus a multiple,
 * rounded to ten digits, so that 0.01, 0.05, .. ends at 0.97 and not beside it. */
static ikt_status fill_up_to(ikt_context *ctx, const ikt_yaml *yaml, int node,
                             const ikt_study_value *last, ikt_study_values *out) {
    const ikt_study_value *a = out->count > 1 ? &out->value[out->count - 2] : NULL,
                          *b = out->count > 1 ? &out->value[out->count - 1] : NULL;
    if (!a || !a->is_number || !b->is_number || !last->is_number || a->is_share != b->is_share ||
        b->is_share != last->is_share)
        return ikt_yaml_fail(ctx, yaml, node,
                             "`..` needs two numbers before it and one after it, all of them with "
                             "n or all without");
    const double from = b->number, step = b->number - a->number;
    const double steps = (last->number - from) / step;
    if (!(steps >= 1) || !(fabs(steps - round(steps)) < 1e-6))
        return ikt_yaml_fail(ctx, yaml, node, "the step of %g before `..` does not lead to %s",
                             step, last->text);
    const bool is_share = last->is_share;
    for (int64_t s = 1; s <= (int64_t)round(steps); s++) {
        char digits[IKT_STUDY_TEXT];
        snprintf(digits, sizeof digits, "%.10g", from + (double)s * step);
        const ikt_study_value value = number_value(strtod(digits, NULL), is_share);
        IKT_TRY(add(ctx, yaml, node, &value, out));
    }
    return IKT_OK;
}

ikt_status ikt_study_values_read(ikt_context *ctx, const ikt_yaml *yaml, int node,
                                 ikt_study_values *out) {
    const bool is_list = ikt_yaml_kind_of(yaml, node) == IKT_YAML_LIST;
    const int items = is_list ? ikt_yaml_count(yaml, node) : 1;
    bool continues = false; /* `..` stands before the next value */
    ikt_study_values values IKT_AT_END(ikt_study_values_destroy) = {NULL, 0};
    *out = values;
    for (int i = 0; i < items; i++) {
        const int item = is_list ? ikt_yaml_item(yaml, node, i) : node;
        const char *text = ikt_yaml_text(yaml, item);
        if (ikt_yaml_kind_of(yaml, item) != IKT_YAML_SCALAR)
            return ikt_yaml_fail(ctx, yaml, item, "a value of the list is a number or a word");
        if (strlen(text) >= IKT_STUDY_TEXT)
            return ikt_yaml_fail(ctx, yaml, item, "a value has at most %d characters",
                                 (int)IKT_STUDY_TEXT - 1);
        const bool is_dots = strcmp(text, "..") == 0;
        const ikt_study_value value = parse(text);
        if (!is_dots)
            IKT_TRY(continues ? fill_up_to(ctx, yaml, item, &value, &values)
                              : add(ctx, yaml, item, &value, &values));
        continues = is_dots;
    }
    if (continues) return ikt_yaml_fail(ctx, yaml, node, "a value is missing behind `..`");
    if (values.count == 0) return ikt_yaml_fail(ctx, yaml, node, "the list is empty");
    return ikt_give(out, values);
}

void ikt_study_values_destroy(ikt_study_values *values) {
    ikt_free(&values->value);
    values->count = 0;
}

void ikt_study_value_text(const ikt_study_value *value, const ikt_key *key, int64_t n,
                          char text[IKT_STUDY_TEXT]) {
    char digits[IKT_REAL_TEXT];
    if (!value->is_share) {
        snprintf(text, IKT_STUDY_TEXT, "%s", value->text);
        return;
    }
    double number = value->number * (double)n;
    snprintf(digits, sizeof digits, "%.10g", number); /* not 26.150000000000002 */
    number = key->type == IKT_KEY_INT ? fmax(round(number), 1) : strtod(digits, NULL);
    ikt_real_print(number, digits);
    snprintf(text, IKT_STUDY_TEXT, "%s", digits);
}
