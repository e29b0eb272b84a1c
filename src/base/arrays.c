/* Arrays that are freed together are a list: each block has room for the address of another. */
#include "base/arrays.h"

/* The first array has this behind it: what is held by no list has NULL. */
static char nothing;

void ikt_arrays_take(ikt_arrays *held, void *array) {
    if (!array) return;
    *ikt_memory_link(array) = held->last ? held->last : &nothing;
    held->last = array;
}

void *ikt_claim_kept(ikt_arrays *held, int64_t count, size_t size) {
    void *array = NULL;
    if (held->status == IKT_OK)
        held->status = ikt_alloc(held->ctx, &array, count, size, held->purpose);
    return array;
}

void *ikt_claim(ikt_arrays *held, int64_t count, size_t size) {
    void *array = ikt_claim_kept(held, count, size);
    ikt_arrays_take(held, array);
    return array;
}

ikt_status ikt_arrays_agree(ikt_arrays *held) {
    return held->status = ikt_agree(held->ctx, held->status);
}

ikt_status ikt_arrays_agree_both(ikt_arrays *held, ikt_arrays *work) {
    if (work->status == IKT_OK) work->status = held->status;
    return held->status = ikt_arrays_agree(work);
}

void ikt_arrays_free(ikt_arrays *held) {
    while (held->last) {
        void *array = held->last, **link = ikt_memory_link(array);
        held->last = *link == &nothing ? NULL : *link;
        *link = NULL;
        ikt_free(&array);
    }
}
