/* Signals and time. See watch.h. */
#define _GNU_SOURCE
#include "base/watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/log.h"

/* A sum over up to a million ranks: whether rank 0 finds a checkpoint due, how many want to save
 * for a signal, to stop for time, to stop for a signal. */
static const int64_t want_due = 1, want_save = 2, want_end = INT64_C(1) << 22,
                     want_stop = INT64_C(1) << 42;

/* Of the time there is, at most: what is kept free beside the checkpoint itself. */
static const double spare_seconds = 30, spare_share = 0.1;

/* A checkpoint may take longer than the one before it. */
static const double save_caution = 3;

/* Of the interval: the least work that the end of a stage is saved for. */
static const double stage_end_share = 0.1;

/* Launchers and schedulers send the same signal two or three times, and to each rank when they come
 * to it: within milliseconds, more where processors are shared. */
enum { SECOND_SIGNAL_SECONDS = 2 };

/* What a signal handler may write to, also one that runs in another thread than what reads it: the
 * system gives a signal to any thread, those of libraries among them. */
static _Atomic sig_atomic_t save_signals, stop_signal, stop_second;

/* When the last checkpoint was complete. What comes until then, or so soon after it
 * that it may be the same signal on another rank, is answered by that checkpoint. */
static _Atomic sig_atomic_t saved_second, has_answered;

/* Wraps around after years, and is only compared for a difference. */
static sig_atomic_t second_now(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (sig_atomic_t)now.tv_sec;
}

/* The second signal that stops finds the first: no cleaning up, which might take its time. */
static void on_signal(int number) {
    if (number == SIGUSR1) {
        if (second_now() - saved_second > SECOND_SIGNAL_SECONDS)
            save_signals = 1;
        else
            has_answered = 1;
    } else if (!stop_signal) {
        stop_second = second_now();
        stop_signal = number;
    } else if (second_now() - stop_second > SECOND_SIGNAL_SECONDS) {
        _exit(128 + number);
    }
}

static void set_handler(void (*handler)(int)) {
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGUSR2, SIGINT};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART; /* reading and writing go on */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

void ikt_watch_signals(void) {
    save_signals = stop_signal = has_answered = 0; /* those of an earlier run of this process */
    saved_second = second_now() - SECOND_SIGNAL_SECONDS - 1;
    set_handler(on_signal);
}

void ikt_watch_signals_end(void) {
    set_handler(SIG_DFL);
}

bool ikt_watch_is_signalled(void) {
    return stop_signal != 0;
}

void ikt_watch_begin(ikt_context *ctx, double seconds, double save_every) {
    const double now = ikt_now();
    ctx->watch = (ikt_watch){.is_on = true,
                             .stop_at = now + seconds,
                             .spare = fmin(spare_seconds, spare_share * seconds),
                             .save_every = save_every,
                             .saved_at = now};
}

void ikt_watch_end(ikt_context *ctx) {
    ctx->watch.is_on = false;
}

void ikt_watch_expect(ikt_context *ctx, double seconds) {
    ctx->watch.save_seconds = seconds;
}

/* Who sends another signal is told what became of it, once for all that came together. */
static void log_answered(ikt_context *ctx) {
    if (!has_answered) return;
    has_answered = 0;
    ikt_log(ctx, IKT_LOG_STAGE,
            "SIGUSR1 came within %d seconds after a checkpoint, which stands for it; a later "
            "one asks for another",
            SECOND_SIGNAL_SECONDS);
}

int64_t ikt_watch_pack(ikt_context *ctx) {
    const ikt_watch *watch = &ctx->watch;
    int64_t want = 0;
    if (!watch->is_on) return 0;
    if (stop_signal) want += want_stop;
    if (save_signals) want += want_save;
    if (ctx->rank != 0) return want; /* clocks differ */
    log_answered(ctx);
    const double now = ikt_now(), end = now + watch->spare + save_caution * watch->save_seconds;
    if (end >= watch->stop_at) want += want_end;
    if (!save_signals && now - watch->saved_at >= watch->save_every) want += want_due;
    return want;
}

ikt_request ikt_watch_unpack(ikt_context *ctx, int64_t sum) {
    const bool is_stop = sum >= want_end;
    ctx->watch.is_signal = sum >= (is_stop ? want_stop : want_save);
    return is_stop ? IKT_REQUEST_STOP : sum > 0 ? IKT_REQUEST_SAVE : IKT_REQUEST_NONE;
}

ikt_request ikt_watch_poll(ikt_context *ctx) {
    if (!ctx->watch.is_on) return IKT_REQUEST_NONE;
    return ikt_watch_unpack(ctx, ikt_sum_one(ctx, ikt_watch_pack(ctx)));
}

const char *ikt_watch_reason(const ikt_context *ctx) {
    if (!ctx->watch.is_signal) return "the end of its time";
    return stop_signal == SIGTERM   ? "SIGTERM"
           : stop_signal == SIGUSR2 ? "SIGUSR2"
           : stop_signal == SIGINT  ? "SIGINT"
                                    : "a signal to another rank";
}

/* Who has sent a signal looks for its effect: the log says so at once, and how the run goes on. */
static void log_saved(ikt_context *ctx, const ikt_saver *saver, const char *at) {
    const ikt_stage stage = ikt_stage_innermost(ctx);
    const char *file = ikt_stage_saved(stage);
    const ikt_log_number numbers[] = {IKT_LOG_INT("iteration", saver->iteration), {0}};
    ikt_log_numbers(ctx, IKT_LOG_STAGE, saver->iteration > 0 ? numbers : NULL,
                    "SIGUSR1: a checkpoint was written in the stage '%s'%s, %s%s%s%s; the run goes "
                    "on, and should it end early the same command goes on from there",
                    ikt_stage_name(stage), at, saver->where, file ? "/" : "", file ? file : "",
                    file ? ".h5" : "");
}

static const char stopped[] = "stopped by %s in the stage '%s'%s; %s holds all that is done, and "
                              "the same command goes on from there";

ikt_status ikt_watch_handle(ikt_context *ctx, ikt_request request, const ikt_saver *saver) {
    if (!saver || request == IKT_REQUEST_NONE) return IKT_OK;
    const double begun = ikt_now();
    const bool is_signal = ctx->watch.is_signal;
    char at[48] = "";
    if (saver->iteration > 0)
        snprintf(at, sizeof at, " at iteration %lld", (long long)saver->iteration);
    if (request == IKT_REQUEST_STOP) {
        IKT_TRY(saver->save(saver->self));
        return ikt_fail(ctx, IKT_STOPPED, stopped, ikt_watch_reason(ctx),
                        ikt_stage_name(ikt_stage_innermost(ctx)), at, saver->where);
    }
    if (saver->save(saver->self) != IKT_OK) { /* the run is worth more than this checkpoint */
        ikt_log(ctx, IKT_LOG_WARN, "no checkpoint could be written: %s", ikt_message(ctx));
        ikt_clear(ctx);
    } else {
        if (is_signal) log_saved(ctx, saver, at);
        ctx->watch.has_saved = true;
        saved_second = second_now();
    }
    save_signals = 0; /* in this order: a signal in between is one of those */
    ctx->watch.saved_at = ikt_now();
    ctx->watch.save_seconds = ctx->watch.saved_at - begun;
    return IKT_OK;
}

/* The end, where nothing was made that a checkpoint does not hold. */
static ikt_status stop_at_once(ikt_context *ctx, const ikt_saver *saver) {
    const char *stage = ikt_stage_name(ikt_stage_innermost(ctx));
    if (!saver->save)
        return ikt_fail(ctx, IKT_STOPPED,
                        "stopped by %s in the stage '%s', which no checkpoint holds; the same "
                        "command goes on from the last one in %s, or begins anew where there is "
                        "none",
                        ikt_watch_reason(ctx), stage, saver->where);
    if (ctx->watch.has_saved)
        return ikt_fail(ctx, IKT_STOPPED, stopped, ikt_watch_reason(ctx), stage, "", saver->where);
    return ikt_fail(ctx, IKT_STOPPED,
                    "stopped by %s in the stage '%s', before this start had made anything that a "
                    "checkpoint could hold; the same command goes on as this start did",
                    ikt_watch_reason(ctx), stage);
}

ikt_status ikt_watch_pause_after(ikt_context *ctx, const ikt_saver *saver, bool *has_worked) {
    int64_t sum[2] = {ikt_watch_pack(ctx), *has_worked};
    ikt_watch *watch = &ctx->watch;
    if (!watch->is_on) return IKT_OK;
    ikt_sum_i64(ctx, sum, 2);
    const ikt_request request = ikt_watch_unpack(ctx, sum[0]);
    if (request == IKT_REQUEST_NONE) return IKT_OK;
    if (sum[1] > 0) {
        *has_worked = false;
        return ikt_watch_handle(ctx, request, saver);
    }
    if (request == IKT_REQUEST_STOP && (watch->is_signal || watch->has_saved))
        return stop_at_once(ctx, saver);
    return IKT_OK;
}

ikt_pausing ikt_watch_allow(ikt_context *ctx, const ikt_saver *saver, bool *has_worked) {
    ikt_watch *watch = &ctx->watch;
    const ikt_pausing outside = {ctx, watch->saver, watch->has_worked};
    if (saver->where) {
        watch->saver = saver;
        watch->has_worked = has_worked;
    }
    return outside;
}

void ikt_watch_forbid(const ikt_pausing *pausing) {
    pausing->ctx->watch.saver = pausing->saver;
    pausing->ctx->watch.has_worked = pausing->has_worked;
}

ikt_status ikt_watch_pause(ikt_context *ctx) {
    const ikt_watch *watch = &ctx->watch;
    return watch->saver ? ikt_watch_pause_after(ctx, watch->saver, watch->has_worked) : IKT_OK;
}

ikt_status ikt_watch_stage_end(ikt_context *ctx, const ikt_saver *saver) {
    const ikt_watch *watch = &ctx->watch;
    if (!saver || !watch->is_on) return IKT_OK;
    ikt_request request = ikt_watch_poll(ctx);
    int64_t is_due =
        ctx->rank == 0 && ikt_now() - watch->saved_at >= stage_end_share * watch->save_every;
    if (ikt_max_one(ctx, is_due) > 0 && request == IKT_REQUEST_NONE) request = IKT_REQUEST_SAVE;
    return ikt_watch_handle(ctx, request, saver);
}

/* --- a program that watches ------------------------------------------------------------------- */

void ikt_watcher_set(ikt_context *ctx, const ikt_watcher *watcher) {
    ctx->watcher = watcher;
    ctx->wants_stop = false;
}

void ikt_watcher_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total) {
    const ikt_watcher *watcher = ctx->watcher;
    if (watcher && watcher->progress && watcher->progress(watcher->self, unit, done, total))
        ctx->wants_stop = true;
}

void ikt_watcher_report(ikt_context *ctx, int64_t iteration, double value, const float *positions) {
    const ikt_watcher *watcher = ctx->watcher;
    if (watcher->report(watcher->self, iteration, value, positions)) ctx->wants_stop = true;
}

int64_t ikt_watcher_every(const ikt_context *ctx) {
    const ikt_watcher *watcher = ctx->watcher;
    return watcher && watcher->report && watcher->every > 0 ? watcher->every : 0;
}

bool ikt_watcher_wants_stop(const ikt_context *ctx) {
    return ctx->wants_stop;
}

ikt_status ikt_watcher_poll(ikt_context *ctx) {
    if (!ctx->watcher || ikt_max_one(ctx, ctx->wants_stop) == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_STOPPED,
                    "stopped in the stage '%s' as the program asked; there is no embedding yet",
                    ikt_stage_name(ikt_stage_innermost(ctx)));
}
