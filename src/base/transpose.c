/* Transposing a shared matrix. See transpose.h. */
#include "base/transpose.h"

#include <fftw3-mpi.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/timer.h"

struct ikt_transpose {
    bool single;
    fftw_plan way[2]; /* double precision: there, back */
    fftwf_plan way_single[2];
    int64_t sent[2], received[2]; /* bytes to and from other ranks */
};

static int64_t owned(int64_t n, int64_t block, int rank) {
    const int64_t left = n - block * rank;
    return left < 0 ? 0 : left < block ? left : block;
}

int64_t ikt_transpose_capacity(ikt_context *ctx, const ikt_transpose_shape *s) {
    const ptrdiff_t n[2] = {s->rows, s->columns};
    ptrdiff_t ignored[4];
    if (s->size == sizeof(float)) fftwf_mpi_init();
    fftw_mpi_init();
    return fftw_mpi_local_size_many_transposed(2, n, s->tuple, s->row_block, s->column_block,
                                               ctx->comm, ignored, ignored + 1, ignored + 2,
                                               ignored + 3);
}

ikt_status ikt_transpose_create(ikt_context *ctx, const ikt_transpose_shape *s, void *by_rows,
                                void *by_columns, ikt_transpose **out) {
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "repulsion"));
    ikt_transpose *t = *out;
    t->single = s->size == sizeof(float);
    for (int back = 0; back < 2; back++) {
        const ptrdiff_t n[2] = {back ? s->columns : s->rows, back ? s->rows : s->columns};
        const ptrdiff_t block[2] = {back ? s->column_block : s->row_block,
                                    back ? s->row_block : s->column_block};
        void *from = back ? by_columns : by_rows, *to = back ? by_rows : by_columns;
        const unsigned flags =
            FFTW_ESTIMATE | (back ? FFTW_MPI_TRANSPOSED_OUT : FFTW_MPI_TRANSPOSED_IN);
        if (t->single)
            t->way_single[back] = fftwf_mpi_plan_many_transpose(
                n[0], n[1], s->tuple, block[0], block[1], from, to, ctx->comm, flags);
        else
            t->way[back] = fftw_mpi_plan_many_transpose(n[0], n[1], s->tuple, block[0], block[1],
                                                        from, to, ctx->comm, flags);
        /* Of what this rank has, all but the block that it keeps travels. */
        const int64_t rows = owned(n[0], block[0], ctx->rank);
        const int64_t columns = owned(n[1], block[1], ctx->rank);
        const int64_t bytes = s->tuple * (int64_t)s->size;
        t->sent[back] = rows * (n[1] - columns) * bytes;
        t->received[back] = columns * (n[0] - rows) * bytes;
    }
    ikt_status st = IKT_OK;
    if (t->single ? !t->way_single[0] || !t->way_single[1] : !t->way[0] || !t->way[1])
        st = ikt_fail(ctx, IKT_ERR_RESOURCE, "FFTW cannot plan a transpose of %lld x %lld",
                      (long long)s->rows, (long long)s->columns);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_transpose_destroy(out);
    return st;
}

void ikt_transpose_destroy(ikt_transpose **transpose) {
    ikt_transpose *t = *transpose;
    if (!t) return;
    for (int back = 0; back < 2; back++) {
        if (t->way[back]) fftw_destroy_plan(t->way[back]);
        if (t->way_single[back]) fftwf_destroy_plan(t->way_single[back]);
    }
    ikt_free(transpose);
}

void ikt_transpose_execute(ikt_context *ctx, const ikt_transpose *t, bool is_back) {
    ikt_meet(ctx);
    if (t->single)
        fftwf_execute(t->way_single[is_back]);
    else
        fftw_execute(t->way[is_back]);
    ikt_traffic_collective(ctx, t->sent[is_back], t->received[is_back]);
}
