/* Rows of other ranks. See foreign.h. */
#include "neighbours/foreign.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"

enum { BATCH_LEAST = 64, BATCH_MOST = 16384 };

static const char purpose[] = "foreign rows";

/* --- sets of numbers -------------------------------------------------------------------------- */

/* A power of two, at least twice as many as there may be members. */
static int64_t places_for(int64_t members) {
    int64_t places = 2;
    while (places < 2 * members)
        places *= 2;
    return places;
}

void ikt_number_set_create(ikt_arrays *held, int64_t members, ikt_number_set *set) {
    *set = (ikt_number_set){.places = places_for(members), .now = 1};
    set->number = ikt_claim(held, set->places, sizeof *set->number);
    set->stamp = ikt_claim(held, set->places, sizeof *set->stamp);
}

void ikt_number_set_empty(ikt_number_set *set) {
    if (++set->now != 0) return;
    memset(set->stamp, 0, (size_t)set->places * sizeof *set->stamp); /* stamps have gone round */
    set->now = 1;
}

bool ikt_number_set_add(ikt_number_set *set, uint32_t number) {
    for (uint64_t at = number * (uint64_t)0x9E3779B97F4A7C15u >> 24;; at++) {
        const uint64_t place = at & (uint64_t)(set->places - 1);
        if (set->stamp[place] != set->now) {
            set->stamp[place] = set->now;
            set->number[place] = number;
            return true;
        }
        if (set->number[place] == number) return false;
    }
}

int64_t ikt_number_set_bytes(int64_t members) {
    return 2 * (int64_t)sizeof(uint32_t) * places_for(members);
}

/* --- foreign rows ----------------------------------------------------------------------------- */

ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_rows *rows, const ikt_number_set *wanted,
                             const void *own, int64_t bytes, ikt_foreign *out) {
    *out = (ikt_foreign){.bytes = bytes};
    for (int64_t s = 0; s < wanted->places; s++)
        out->count += wanted->stamp[s] == wanted->now;
    IKT_ARRAYS(held, ctx, purpose);
    out->row = ikt_claim_kept(&held, out->count, sizeof *out->row);
    out->value = ikt_claim_kept(&held, out->count, (size_t)bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t s = 0, e = 0; s < wanted->places; s++)
        if (wanted->stamp[s] == wanted->now) out->row[e++] = wanted->number[s];
    ikt_sort_u32(out->row, out->count);
    return ikt_gather_rows(ctx, rows, out->row, out->count, own, (size_t)bytes, out->value);
}

int64_t ikt_foreign_batch(const ikt_context *ctx, int64_t n_local, int64_t candidates,
                          int64_t row_bytes) {
    if (ctx && ikt_piece_bytes(ctx) < IKT_FOREIGN_BYTES) return BATCH_LEAST;
    int64_t rows = IKT_FOREIGN_BYTES / (candidates * row_bytes);
    if (rows < BATCH_LEAST) rows = BATCH_LEAST;
    if (rows > BATCH_MOST) rows = BATCH_MOST;
    return rows < n_local ? rows : n_local;
}

void ikt_foreign_destroy(ikt_foreign *foreign) {
    ikt_free_all(&foreign->row, &foreign->value);
    foreign->count = 0;
}
