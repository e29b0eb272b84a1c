/* Our own small collectives: 64-bit counts, checked, the same on every rank.
 *
 * MPI is called here, and in context.c, cpu.c, shared_file.c and transpose.c. A failing MPI call
 * cannot be agreed upon, so it prints what failed and aborts the job (iktsne.h says when else that
 * happens); functions below that return void cannot fail otherwise. Transfers are cut into pieces
 * below 1 GiB, because MPI counts are ints.
 */
#ifndef IKT_BASE_COMM_H
#define IKT_BASE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL. Whether the context is that of one process without MPI (ikt_context_create_alone): its
 * collective functions then call nothing of MPI, and what opens files for ranks opens them for one.
 */
bool ikt_is_alone(const ikt_context *ctx);

/* COLLECTIVE. Where ranks are crowded (context.h), returns when all have come here, asleep
 * meanwhile; else at once. For before a call of MPI that would keep the core until then. */
void ikt_meet(const ikt_context *ctx);

/* COLLECTIVE, all of the following. Element-wise reductions in place; the result is the same on
 * every rank and, being integer or min/max, does not depend on the order. Floating-point sums are
 * in exact_sum.h. `count` must be equal on all ranks. */
void ikt_sum_i64(ikt_context *ctx, int64_t *values, int64_t count);
void ikt_min_i64(ikt_context *ctx, int64_t *values, int64_t count);
void ikt_max_i64(ikt_context *ctx, int64_t *values, int64_t count);
void ikt_or_u64(ikt_context *ctx, uint64_t *values, int64_t count);
void ikt_min_f64(ikt_context *ctx, double *values, int64_t count);
void ikt_max_f64(ikt_context *ctx, double *values, int64_t count);

/* COLLECTIVE. As ikt_min_i64 of one number, but false where `seconds` is above 0 and not all ranks
 * came in that time; then nothing but ikt_abort_alone may follow. */
bool ikt_min_soon(ikt_context *ctx, int64_t *value, double seconds);

/* COLLECTIVE. Element-wise sums of which each rank gets its part only: consecutive parts of
 * counts[r] elements for rank r, where they stand; the rest of `values` is lost. */
void ikt_sum_parts_i64(ikt_context *ctx, int64_t *values, const int64_t *counts);

/* COLLECTIVE. Element-wise sums over the ranks before this one, in place; zeros on rank 0. */
void ikt_sums_before(ikt_context *ctx, int64_t *values, int64_t count);

/* COLLECTIVE. Sum, maximum of one number per rank; sum of the ranks before this one. */
int64_t ikt_sum_one(ikt_context *ctx, int64_t value);
int64_t ikt_max_one(ikt_context *ctx, int64_t value);
int64_t ikt_sum_before(ikt_context *ctx, int64_t value);

/* COLLECTIVE. Copies `bytes` bytes from rank `root` to all. */
void ikt_broadcast(ikt_context *ctx, void *data, int64_t bytes, int root);

/* COLLECTIVE. Gathers one int64 per rank into all[size]. */
void ikt_gather_counts(ikt_context *ctx, int64_t mine, int64_t *all);

/* COLLECTIVE. Concatenates the ranks' parts in rank order on every rank.
 *   part    `count` elements of `size` bytes (may be 0).
 *   all     [sum of counts], elements of `size` bytes.
 *   counts  [size of the communicator], elements of each rank; see ikt_gather_counts. */
void ikt_allgather(ikt_context *ctx, const void *part, int64_t count, size_t size, void *all,
                   const int64_t *counts);

/* COLLECTIVE. Sends send_counts[r] elements of `size` bytes, consecutive by rank in `send`, to each
 * rank r, and receives recv_counts[r] elements from each, consecutive by rank in `recv`. */
void ikt_exchange(ikt_context *ctx, const void *send, const int64_t *send_counts, void *recv,
                  const int64_t *recv_counts, size_t size);

/* COLLECTIVE. Transposes a table of counts: recv_counts[r] = what rank r has in its
 * send_counts[this rank]. Arrays of [size of the communicator]. */
void ikt_exchange_counts(ikt_context *ctx, const int64_t *send_counts, int64_t *recv_counts);

/* COLLECTIVE. Sends send_bytes bytes to rank `to` while receiving recv_bytes bytes from rank `from`
 * (used to pass blocks round a ring). Sizes must match their peer's. */
void ikt_send_receive(ikt_context *ctx, const void *send, int64_t send_bytes, int to, void *recv,
                      int64_t recv_bytes, int from);

void ikt_barrier(ikt_context *ctx);

/* LOCAL. The largest piece in bytes that one MPI call moves; 1 GiB unless a test makes it small. */
void ikt_set_piece_bytes(ikt_context *ctx, int64_t bytes);
int64_t ikt_piece_bytes(const ikt_context *ctx);

/* LOCAL. Prints the message that ikt_fail recorded and aborts the whole job with its status. */
_Noreturn void ikt_abort_alone(const ikt_context *ctx);

/* LOCAL. Prints the message and aborts the whole job with status IKT_ERR_INTERNAL. */
_Noreturn void ikt_abort(const ikt_context *ctx, const char *what);

/* Items to all ranks in two halves, so that work goes on while they travel.
 *
 * Method: one message for each pair of ranks that have something for each other; how much is known
 * on both sides beforehand. Advantage: begin returns at once, and ranks that share nothing say
 * nothing to each other. Disadvantage: the counts have to be known; where they are not,
 * ikt_exchange_counts tells them.
 */

typedef struct ikt_transfer ikt_transfer;

/* LOCAL. For items of `bytes` bytes. Errors: IKT_ERR_RESOURCE; NULL then. */
ikt_status ikt_transfer_create(ikt_context *ctx, size_t bytes, ikt_transfer **out);
void ikt_transfer_destroy(ikt_transfer **transfer);

/* COLLECTIVE. Starts sending send_counts[r] items, consecutive by rank in `send`, to each rank r,
 * and receiving recv_counts[r] items from each, consecutive by rank in `recv`. Each count is below
 * 2^31, and is what the peer has for it; both are 0 for the rank itself. None of the four may be
 * touched until ikt_transfer_end. Other transfers may be under way, where all ranks begin them in
 * one order. */
void ikt_transfer_begin(ikt_transfer *transfer, const void *send, const int64_t *send_counts,
                        void *recv, const int64_t *recv_counts);
void ikt_transfer_end(ikt_transfer *transfer);

#endif
