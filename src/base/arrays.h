/* The arrays of a piece of work: claimed one after another, looked at once, freed together.
 *
 *     IKT_ARRAYS(held, ctx, "labels");
 *     int64_t *own = ikt_claim(&held, n_local, sizeof *own);
 *     int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
 *     IKT_TRY(ikt_arrays_agree(&held));
 *
 * The first claim that fails is remembered in held.status, and those after it claim nothing, so one
 * check follows all of them: `IKT_TRY(held.status)` where nothing communicates, the agreement above
 * where something does. Whatever is held is freed at the end of the block in which it was declared,
 * by whichever return this is reached; ikt_arrays_free frees it earlier. A function that claims for
 * its caller is given the address of the caller's `held`; a struct that owns arrays has a member
 * `held` (ikt_arrays_of), which its destroy frees, and which may be copied with the struct.
 *
 * Such an array is freed with the others only: ikt_free and ikt_resize refuse it. */
#ifndef IKT_BASE_ARRAYS_H
#define IKT_BASE_ARRAYS_H

#include <string.h>

#include "base/memory.h"

/* Behind the name of a variable: destroy(&variable) is called where the block ends, also by a
 * return. It accepts what is empty:
 *     ikt_tree tree IKT_AT_END(ikt_tree_destroy) = {.count = 0}; */
#define IKT_AT_END(destroy) __attribute__((cleanup(destroy), unused))

/* *out = made, of which nothing is left to be destroyed; IKT_OK. So ends what made it with
 * IKT_AT_END, that a failure leaves nothing behind:  return ikt_give(out, made); */
#define ikt_give(out, made) (*(out) = (made), memset(&(made), 0, sizeof(made)), IKT_OK)

/* The arrays are all of one context and counted under one purpose, which is kept, not copied. */
typedef struct {
    ikt_context *ctx;
    const char *purpose;
    ikt_status status; /* of the first claim that failed */
    void *last;        /* array; each is linked to the one before it */
} ikt_arrays;

static inline ikt_arrays ikt_arrays_of(ikt_context *ctx, const char *purpose) {
    return (ikt_arrays){ctx, purpose, IKT_OK, NULL};
}

#define IKT_ARRAYS(name, ctx, purpose)                                                             \
    ikt_arrays name IKT_AT_END(ikt_arrays_free) = ikt_arrays_of(ctx, purpose)

/* LOCAL. `count` zeroed elements of `size` bytes as ikt_alloc gives them; NULL where this claim or
 * one before it failed. */
void *ikt_claim(ikt_arrays *held, int64_t count, size_t size);

/* LOCAL. The same, of an array that stays when the others are freed: whoever it is made for frees
 * it with ikt_free. */
void *ikt_claim_kept(ikt_arrays *held, int64_t count, size_t size);

/* LOCAL. Takes an array of ikt_alloc, which is then held with the others; NULL is no array. */
void ikt_arrays_take(ikt_arrays *held, void *array);

/* COLLECTIVE. Whether all claims of all ranks succeeded: sets the status and returns it. */
ikt_status ikt_arrays_agree(ikt_arrays *held);

/* COLLECTIVE. The same of two, which may be those of a struct and those of a function. */
ikt_status ikt_arrays_agree_both(ikt_arrays *held, ikt_arrays *work);

/* LOCAL. Frees what is held, which may be nothing; more can be claimed after it. */
void ikt_arrays_free(ikt_arrays *held);

#endif
