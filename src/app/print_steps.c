/* The steps of a run. See print_steps.h. */
#include "app/print_steps.h"

#include <stdio.h>

/* "codes, lists"; nothing: "the file". */
static void put_values(unsigned values, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", values ? "" : "a file, or nothing");
    for (unsigned v = 1; v < 1u << IKT_VALUES && used < size; v <<= 1)
        if (values & v)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     ikt_value_name((ikt_value)v));
}

void ikt_steps_print(const ikt_steps *steps, const ikt_plan *plan) {
    bool is_counted[IKT_STAGE_COUNT] = {false};
    char takes[96];
    printf("%-13s %-22s %-13s %10s %10s  %-14s %s\n", "step", "takes", "makes", "MB a rank",
           "seconds", "goes on from", "what it makes");
    for (int s = 0; s < steps->count; s++) {
        const ikt_step *step = ikt_step_of(steps->id[s]);
        const char *saved = ikt_stage_saved(step->stage);
        char memory[32] = "", seconds[32] = "";
        put_values(step->takes, takes, sizeof takes);
        /* Steps that are counted under one stage have its numbers together. */
        if (!is_counted[step->stage]) {
            const double bytes = (double)plan->memory.stage[step->stage];
            if (bytes > 0)
                snprintf(memory, sizeof memory, "%.0f", (bytes + (double)plan->memory.base) / 1e6);
            snprintf(seconds, sizeof seconds, "%.2f", plan->time.stage[step->stage].seconds);
        }
        is_counted[step->stage] = true;
        printf("%-13s %-22s %-13s %10s %10s  %-14s %s\n", step->name, takes,
               ikt_value_name(step->makes), memory, seconds, saved ? saved : "", step->about);
    }
}
