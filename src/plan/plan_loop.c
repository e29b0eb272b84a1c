/* What the loop of a run takes. See plan.h. */
#include <math.h>

#include "kernelsum/slabs.h"
#include "kernelsum/spread.h"
#include "objective/divergence.h"
#include "objective/laplacian.h"
#include "plan/task.h"

/* Operations beyond those of task.h, in multiply-adds: */
static const double kernel_pair = 12.4, /* of the exact repulsion */
    block_pair = 6.7,                   /* of the whole kernel */
    negative_pair = 165,                /* of a row and a far row by UMAP's curve */
    student_pair = 55,                  /* the same by LargeVis's */
    curve_entry = 450,                  /* of P by UMAP's curve, beyond what attraction takes */
    divergence_entry = 33.3,            /* of P, beyond what attraction takes */
    moved_coordinate = 53,              /* of a point, by the optimiser */
    met_pair = 57,                      /* of TriMap: a far row and a near one of a row */
    met_triplet = 700,                  /* of those that are drawn once, for one of its rows */
    summed_point = 297;                 /* for the bounds of the map and Z */
/* In gathers: */
static const double looked_up = 8, /* two rows, whether a graph joins them */
    edge_near = 3.5,               /* of TriMap, where it ends, 2^16 rows on a rank */
    edge_far = 6.5,                /* the same, 2^19 rows */
    attraction_row = 14,           /* a row of P, and */
    attraction_near = 0.72,        /* an entry of it, 2^16 rows on a rank */
    attraction_far = 0.92,         /* the same, 2^19 rows */
    attraction_dense = 1.27,       /* an entry where all pairs have one */
    sorted_near = 14,    /* ... brought to its cell and its block, and back, 2^16 rows on a rank */
    sorted_far = 28,     /* the same, 2^19 rows */
    spread_point = 11.5, /* to the grid */
    gathered_point = 14.8; /* from the grid */
/* In nodes of a grid of 2^20 or of 2^24. */
static const double fft_near = IKT_FFT_COST, fft_far = 1.48;

enum { REDUCED_SUM_BYTES = 560, SAMPLES = 8 };

/* Exact pairs that a point's nodes and near points cost as much as: measured on maps of 17,000 and
 * 100,000 points, 8,300 and 9,700 in three dimensions, 4,800 in two, 1,600 to 2,300 in one. And
 * those that building the tree costs a point of the rank, once where it is alone. And the bytes of
 * nodes and points that others open, for each row of a rank. */
static const double tree_pairs = 1000, tree_moves = 100, tree_bytes = 20;

/* Where the rows of a rank lie between 2^16 (0), 2^19 (1) and some way beyond, at which rates of
 * gathers were measured. */
static double place_of(const ikt_task *t) {
    return fmin(2.5, fmax(-1, (log2(t->rows) - 16) / 3));
}

/* `times` sums by FFT on a map of that span: points to the grid and back; eight bytes for each node
 * of the grid, to all ranks or each row of nodes to one that shares; and the transforms. The padded
 * grid is whole on every rank; or in shares, with the transpose of the Fourier coefficients there
 * and back, and the potentials to all ranks. Charges and potentials travel whole, or by the pieces
 * that a rank touches. Between the two sizes at which it was measured, the
 * rate is a power of the size. */
static void plan_grid(const ikt_task *t, double times, double span) {
    const ikt_workload *w = t->w;
    const ikt_grid grid = ikt_grid_fit(&w->fft, &(ikt_bounds){{0, 0}, {span, span}});
    ikt_fft_settings fft = w->fft;
    fft.rates = ikt_machine_fft_rates(t->m, w->threads);
    const double share = ikt_slabs_sharers(&fft, &grid, w->ranks);
    const double nodes = (double)grid.nodes[0] * (double)grid.nodes[1];
    const double padded = (double)grid.padded[0] * (double)grid.padded[1];
    const double number = fft.single ? sizeof(float) : sizeof(double);
    const double place = fmin(1, fmax(0, (log2(padded) - 20) / 4));
    const double summed = 8 * (double)(ikt_charge_stride(&grid, fft.order) * grid.nodes[1]);
    const bool by_pieces =
        ikt_slabs_by_pieces(&fft, &grid, w->distribution.n, w->ranks, (int)share);
    const double touched = ikt_slabs_touched_share(w->ranks) * (w->ranks - 1) / w->ranks;
    gathering(t, IKT_STAGE_SPREAD, times * t->rows, spread_point);
    gathering(t, IKT_STAGE_GATHER, times * t->rows, gathered_point);
    if (share == 1)
        reduce(t, IKT_STAGE_GRID_SUM, times, summed);
    else if (by_pieces) { /* the counts, and to each that shares nodes and the bits that say which
                           */
        concatenate(t, IKT_STAGE_GRID_SUM, times, 8.0 * w->ranks);
        send(t, IKT_STAGE_GRID_SUM, times, fmin(share, w->ranks - 1), summed * touched * 65 / 64);
    } else /* a reduction of which each rank gets a part: half of it */
        ikt_cost_add(&t->own[IKT_STAGE_GRID_SUM], times,
                     ikt_cost_collective(t->m, w->ranks, 1, summed, t->m->reduction, summed));
    work(t, IKT_STAGE_FFT, times * padded / share, fft_near * pow(fft_far / fft_near, place),
         t->m->fft * mega);
    if (share == 1) return;
    const double sent = number * (double)grid.padded[0] * (double)grid.nodes[1] / share;
    send(t, IKT_STAGE_FFT, 2 * times, share - 1, sent * (share - 1) / share);
    if (by_pieces) /* a rank that shares has as many to answer as share, of all ranks */
        send(t, IKT_STAGE_FFT, times, w->ranks - 1, number * nodes * touched * w->ranks / share);
    else
        concatenate(t, IKT_STAGE_FFT, times, number * nodes);
}

/* From negative samples: position and weight of every row of the pool, and m far_rows pairs. Where
 * values are reported, another pool's, and eight pairs a row by logarithms in doubles. */
static void plan_negatives(const ikt_task *t, const ikt_negative_settings *sample,
                           bool has_curve) {
    const double evaluations = t->early + t->late, in_doubles = 8 * 40;
    const double bytes = 4 * (t->axes + 1) * (double)sample->pool;
    concatenate(t, IKT_STAGE_REPULSION, evaluations + t->reports, bytes);
    arithmetic(t, IKT_STAGE_REPULSION,
               t->rows * (evaluations * (double)sample->far_rows + t->reports * in_doubles),
               has_curve ? negative_pair : student_pair);
}

/* By FFT: the bounds of the map, four numbers; the parts are stages of their own, and depend on the
 * size of the map. Exact: m n pairs, and everyone's position. By a tree: rows
 * to the ranks of their places, and results back. */
static void plan_repulsion(const ikt_task *t) {
    /* Sums with charges come after the first phase; exact ones share the values of the kernel. */
    const double charged = t->regularised * t->charges * (t->w->is_exact ? 0.5 : 1);
    const double late = t->kernels * t->late + charged, evaluations = t->kernels * t->early + late;
    const double positions = 4 * t->axes * t->n;
    const ikt_stage repulsion = IKT_STAGE_REPULSION;
    if (t->w->is_exact) {
        concatenate(t, repulsion, evaluations, positions);
        arithmetic(t, repulsion, evaluations * t->rows * t->n, kernel_pair);
    } else if (t->w->settings.layout.repulsion == IKT_REPULSION_FFT) {
        reduce(t, repulsion, evaluations, 32);
        plan_grid(t, t->kernels * t->early, ikt_workload_span(t->w, 0));
        for (int s = 0; s < SAMPLES; s++)
            plan_grid(t, late / SAMPLES, ikt_workload_span(t->w, (s + 0.5) / SAMPLES));
    } else {
        /* Rows to the ranks of their places and results back; nodes and points that others open. */
        const double abroad = t->rows * (t->w->ranks - 1) / t->w->ranks;
        send(t, repulsion, evaluations, 4.0 * (t->w->ranks - 1), 48 * abroad + tree_bytes * abroad);
        reduce(t, repulsion, 2 * evaluations, 56);
        t->own[repulsion].seconds += evaluations * (t->w->ranks > 1 ? 2 : 1) * tree_moves *
                                     t->rows * kernel_pair / (t->m->multiply_adds * giga);
        arithmetic(t, repulsion, evaluations * t->rows * fmin(t->n, tree_pairs * t->axes * t->axes),
                   kernel_pair);
    }
}

/* Attraction along the whole kernel: rows to their cells, pairs in blocks. Rows whose cell another
 * rank computes travel there with cell, share and position, and a force comes back. */
static void plan_whole_attraction(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const double passes = ikt_workload_passes(w), block = ikt_workload_block(w);
    const double abroad = w->ranks > 1 ? ikt_workload_cut(w) * t->rows : 0;
    gathering(t, IKT_STAGE_ATTRACTION, passes * t->rows,
              sorted_near * pow(sorted_far / sorted_near, place_of(t)));
    arithmetic(t, IKT_STAGE_ATTRACTION, passes * t->rows * block, block_pair);
    send(t, IKT_STAGE_HALO, passes, 0.5 * (w->ranks - 1), abroad * (8 + 8 * t->axes));
    reduce(t, IKT_STAGE_LAYOUT, t->reports, 16 * t->axes * IKT_WHOLE_PAIRS);
}

/* Whether attraction and repulsion are one pass over all pairs (objective/dense_tsne.c). */
static bool has_one_pass(const ikt_workload *w) {
    const ikt_layout_settings *layout = &w->settings.layout;
    return w->is_dense && w->is_exact && layout->objective == IKT_OBJECTIVE_TSNE &&
           layout->degrees_of_freedom == 1;
}

/* TriMap: m near rows of each row with f far ones, both ways, or triplets that are held three
 * times; the columns or codes of far rows, and where edges end, which are entries as those of P.
 * Then the pool, and a coefficient of each edge that is cut. */
static void plan_triplets(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_triplet_settings *s = &w->settings.layout.own.triplet;
    const double iterations = t->early + t->late, m = (double)s->neighbours;
    const double f = (double)s->far_rows, draws = ceil(iterations / (double)s->redraw);
    const double size = (double)s->pool_rows, numbers = t->axes + m;
    if (s->triplets == IKT_TRIPLETS_FIXED) {
        const double triplets = m * (double)s->outliers + (double)s->random;
        arithmetic(t, IKT_STAGE_REPULSION, iterations * t->rows * 3 * triplets, met_triplet);
        concatenate(t, IKT_STAGE_HALO, iterations, 4 * t->axes * t->n);
        return;
    }
    arithmetic(t, IKT_STAGE_REPULSION, iterations * t->rows * 2 * m * f, met_pair);
    if (w->is_isolation)
        pairs(t, IKT_STAGE_REPULSION, draws * t->rows * f);
    else if (w->is_joined || w->has_matrix)
        gathering(t, IKT_STAGE_REPULSION, draws * t->rows * f, looked_up);
    else
        arithmetic(t, IKT_STAGE_REPULSION, draws * t->rows * f * (double)w->columns,
                   block_coordinate);
    gathering(t, IKT_STAGE_ATTRACTION, iterations * t->rows * m,
              edge_near * pow(edge_far / edge_near, place_of(t)));
    concatenate(t, IKT_STAGE_HALO, iterations, 4 * numbers * size);
    concatenate(t, IKT_STAGE_HALO, draws,
                (double)ikt_workload_searched_bytes(w) * size + 4 * m * size);
    send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
         4 * t->axes * ikt_workload_boundary(w));
    send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
         4 * (w->ranks > 1 ? ikt_workload_cut(w) : 0) * t->rows * m);
}

/* Attraction: entries of P on the rank, m symmetric_share k or m n. The more rows, the farther away
 * their positions lie: between the two sizes at which it was measured, and some way beyond, the
 * rate is a power of the rows. The pass over P computes the divergence, too, where that is
 * reported. Dense P and exact sums of t-SNE are one pass, counted as repulsion. The exchange: a
 * position, 4 bytes an axis, of each boundary row, in one message to each rank that shares a
 * boundary. The loop's own: the sum Z, three integers, in every iteration; the sums of the
 * divergence and of the gradient's norm where they are reported. */
static void plan_loop(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const double iterations = t->early + t->late, bytes = 4 * t->axes;
    const double entries =
        t->rows * (w->is_dense ? t->n : ikt_symmetric_share(w->distribution.n) * (double)w->k);
    const ikt_objective_kind *kind = ikt_layout_objective(&w->settings.layout);
    const bool has_p = kind->needs & IKT_NEEDS_P;
    ikt_negative_settings sample;
    const bool is_sampled = ikt_layout_negatives(&w->settings.layout, &sample);
    if (kind->places == IKT_PLACES_BY_TRIPLETS) {
        plan_triplets(t);
    } else if (w->is_whole) {
        plan_whole_attraction(t);
    } else if (has_p && !has_one_pass(w)) {
        gathering(t, IKT_STAGE_ATTRACTION, iterations * t->rows, attraction_row);
        gathering(t, IKT_STAGE_ATTRACTION, iterations * entries,
                  w->is_dense
                      ? attraction_dense
                      : attraction_near * pow(attraction_far / attraction_near, place_of(t)));
        arithmetic(t, IKT_STAGE_ATTRACTION, t->reports * entries, divergence_entry);
        if (kind->has_curve)
            arithmetic(t, IKT_STAGE_ATTRACTION, iterations * entries, curve_entry);
    }
    if (is_sampled)
        plan_negatives(t, &sample, kind->has_curve);
    else if (t->kernels > 0)
        plan_repulsion(t);
    if (has_p && w->is_dense)
        concatenate(t, IKT_STAGE_HALO, iterations, bytes * t->n);
    else if (has_p && !w->is_whole)
        send(t, IKT_STAGE_HALO, iterations, ikt_workload_partners(w),
             bytes * ikt_workload_boundary(w));
    arithmetic(t, IKT_STAGE_STEP, iterations * t->rows * t->axes, moved_coordinate);
    arithmetic(t, IKT_STAGE_LAYOUT, iterations * t->rows, summed_point);
    reduce(t, IKT_STAGE_LAYOUT, iterations, 24);
    reduce(t, IKT_STAGE_LAYOUT, 2 * t->reports, REDUCED_SUM_BYTES);
}

/* Following the eigenvectors of the map: a Gram matrix or two, and rotations. */
static void plan_regulariser(const ikt_task *t) {
    const double columns = t->charges - 1, entries = columns * columns;
    if (t->regularised == 0) return;
    arithmetic(t, IKT_STAGE_EIGENVECTORS, t->regularised * 6 * t->rows * entries,
               projected_coordinate);
    reduce(t, IKT_STAGE_EIGENVECTORS, 8 * t->regularised, 8 * entries);
}

void ikt_plan_loop(const ikt_task *t) {
    plan_loop(t);
    plan_regulariser(t);
}
