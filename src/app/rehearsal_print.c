/* What a run would do, for people and as JSON. */
#include "app/rehearsal_print.h"

#include <math.h>
#include <stdio.h>

#include "app/json.h"
#include "app/plan_print.h"
#include "base/memory.h"
#include "config/lookup.h"
#include "config/value.h"

static double total_seconds(const ikt_rehearsal *r) {
    return r->plan.time.stage[IKT_STAGE_TOTAL].seconds;
}

static void print_files(const ikt_rehearsal *r) {
    const ikt_output_settings *out = &r->settings.output;
    printf("writes           %s, %.1f MB at most", out->file, (double)r->result_bytes / 1e6);
    if (out->picture[0]) printf("; picture %s", out->picture);
    if (out->model[0]) printf("; model %s", out->model);
    printf("\n");
    if (r->goes_on) printf("goes on          from a checkpoint of the stage '%s'\n", r->goes_on);
    if (isfinite(r->seconds_left))
        printf("time limit       %.0f s%s\n", r->seconds_left,
               total_seconds(r) > r->seconds_left ? ": it would stop with a checkpoint before its "
                                                    "end"
                                                  : "");
}

ikt_status ikt_rehearsal_print(ikt_context *ctx, const ikt_rehearsal *r) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings settings = r->settings;
    char *text = NULL;
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    if (ikt_rank(ctx) == 0) {
        printf("reads            %s, %s labels\n", r->input_name, r->has_labels ? "with" : "no");
        print_files(r);
        printf("time             %.1f s, predicted\n\n", total_seconds(r));
        ikt_plan_print(&r->plan);
        printf("\nsettings, as they would be used:\n%s", text);
    }
    ikt_free(&text);
    return IKT_OK;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void key_json(ikt_json *json, const ikt_config_part *part, const ikt_key *key) {
    const void *member = ikt_config_member(part, key);
    char text[IKT_STRING_MAX];
    ikt_value_print(key, member, text, sizeof text);
    if (key->type == IKT_KEY_BOOL)
        ikt_json_bool(json, key->name, *(const bool *)member);
    else if (key->type == IKT_KEY_INT && *(const int64_t *)member != IKT_AUTO_INT)
        ikt_json_int(json, key->name, *(const int64_t *)member);
    else if (key->type == IKT_KEY_REAL && *(const double *)member > IKT_AUTO_REAL)
        ikt_json_real(json, key->name, *(const double *)member);
    else
        ikt_json_text(json, key->name, text);
}

static void settings_json(ikt_json *json, const ikt_settings *from) {
    ikt_settings settings = *from;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&settings, parts);
    ikt_json_begin(json, "settings", '{');
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++) {
        ikt_json_begin(json, parts[p].section->name, '{');
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            key_json(json, &parts[p], &parts[p].section->keys[k]);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, '}');
}

ikt_status ikt_rehearsal_json(ikt_context *ctx, const ikt_rehearsal *r) {
    ikt_json json = {stdout, 0, false};
    if (ikt_rank(ctx) != 0) return IKT_OK;
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "input", r->input_name);
    ikt_json_bool(&json, "labels", r->has_labels);
    ikt_json_int(&json, "output_bytes", r->result_bytes);
    ikt_json_real(&json, "seconds", total_seconds(r));
    if (isfinite(r->seconds_left)) ikt_json_real(&json, "seconds_left", r->seconds_left);
    if (r->goes_on) ikt_json_text(&json, "goes_on_from", r->goes_on);
    ikt_json_begin(&json, "plan", '{');
    ikt_plan_json_members(&json, &r->plan);
    ikt_json_end(&json, '}');
    settings_json(&json, &r->settings);
    ikt_json_end(&json, '}');
    return IKT_OK;
}
