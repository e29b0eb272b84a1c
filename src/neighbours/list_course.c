/* Rounds that may be stopped. See list_course.h. */
#include "neighbours/list_course.h"

#include <string.h>

#include "base/memory.h"
#include "base/watch.h"

ikt_status ikt_list_course_begin(ikt_context *ctx, const ikt_list_hooks *keeper,
                                 ikt_neighbours *lists, ikt_list_course *out) {
    *out = (ikt_list_course){.keeper = keeper, .lists = lists};
    if (!keeper) return IKT_OK;
    ikt_list_progress *progress = &out->progress;
    ikt_status st =
        ikt_alloc(ctx, &progress->done, lists->n_local, sizeof *progress->done, "neighbours");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = keeper->load(keeper->self, lists, progress);
    if (st != IKT_OK) ikt_list_course_end(out);
    return st;
}

void ikt_list_course_end(ikt_list_course *course) {
    ikt_free(&course->progress.done);
    ikt_free(&course->progress.nearest);
}

void ikt_list_course_next(ikt_list_course *course) {
    ikt_list_progress *progress = &course->progress;
    progress->round++;
    ikt_free(&progress->nearest);
    if (progress->done)
        memset(progress->done, 0, (size_t)course->lists->n_local * sizeof *progress->done);
}

static ikt_status save(void *self) {
    const ikt_list_course *course = self;
    return course->keeper->save(course->keeper->self, course->lists, &course->progress);
}

ikt_status ikt_list_pause(ikt_context *ctx, ikt_list_course *course) {
    if (!course->keeper) return IKT_OK;
    const ikt_saver saver = {course, save, course->keeper->where};
    return ikt_watch_pause_after(ctx, &saver, &course->has_worked);
}

bool ikt_list_done(const ikt_list_course *course, int64_t first, int64_t end) {
    const uint8_t *done = course->progress.done;
    if (!done) return false;
    for (int64_t i = first; i < end; i++)
        if (!done[i]) return false;
    return true;
}

void ikt_list_note(ikt_list_course *course, int64_t first, int64_t end) {
    uint8_t *done = course->progress.done;
    if (ikt_list_done(course, first, end)) return;
    course->has_worked = true;
    if (done && end > first) memset(done + first, 1, (size_t)(end - first));
}
