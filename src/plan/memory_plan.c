/* What a run will need, before it starts. The sizes are those that the modules allocate; what they
 * allocate in blocks of fixed size is counted with the block. */
#include "plan/task.h"

#include <math.h>

#include "affinity/dense.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "dist/order.h"
#include "evaluate/measure.h"
#include "graph/transpose.h"
#include "isolation/codes.h"
#include "kernelsum/field.h"
#include "linalg/blocks.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"
#include "neighbours/neighbours.h"
#include "objective/triplet_placing.h"
#include "sampled/features.h"
#include "sampled/lone_rows.h"

/* Of a neighbour and of an entry of P: row or column, and score or value. Of an entry of P that is
 * held without values (graph/uniform.c), beside a bit. */
enum { ENTRY_BYTES = 8, BARE_ENTRY_BYTES = 4 };

/* Symmetrisation: a batch to send and as much that comes, 12 bytes an entry; as many own ones where
 * they lead to; and a row's places. */
enum { BATCH_BYTES = 2 * 12, SYMMETRISE_ROW_BYTES = 24 };

/* Room for entries without a mirror image, beyond what the rows so far let expect of them. */
static const double single_room = 17.0 / 16;

/* Of a row in the loop, beside positions and arrays: starts, and what the order moves. */
enum { LAYOUT_ROW_BYTES = 32 };

/* A block of rows that is brought to scale, in a pass through a matrix: in double, before and
 * after; at most so much. */
enum { READ_BYTES = 32 << 20 };

/* A picture: its points in linear light, their colours, the page. */
enum { PICTURE_BYTES = 29 << 20 };

/* Writing a model: blocks of centres, of partitionings and of codes on their way to the file. */
enum { MODEL_BYTES = 36 << 20, MODEL_ROWS_BYTES = 4 << 20 };

/* Writing a graph: HDF5's chunks of a piece, and a batch of entries that changes its order. */
enum { GRAPH_FILE_BYTES = 136 << 20 };

/* What libraries allocate when they are first used, beside what the process had: buffers of MPI,
 * HDF5 and BLAS, and what the C library holds free. Measured, from 1,000 to a million rows: 5 to 13
 * MB on one rank, 9 to 27 on each of two and four, without a growth with the rows; 44 MB with 2
 * million rows on two ranks. */
enum { LIBRARY_BYTES = 12 << 20, LIBRARY_MORE_BYTES = 30 << 20, LIBRARY_SHARE = 48 };

/* A graph from a file: a block of a million entries as they are in the file, and being sorted;
 * where it is ordered, its columns or weights twice while they move. */
enum { LOAD_BLOCK_BYTES = 32 << 20, LOAD_ROW_BYTES = 24, MOVED_ENTRY_BYTES = 4 };

/* A block of rows as they are in the file, and as the kernels read them (data/dataset.c). */
static int64_t reading_bytes(int64_t d, int64_t type_bytes, int64_t columns, int threads) {
    const int64_t mapped = 8 * (d + columns) * (int64_t)sizeof(double); /* at a time by a thread */
    return ikt_stream_rows(d, (int64_t)sizeof(double)) *
               (d * type_bytes + columns * (int64_t)sizeof(float)) +
           threads * mapped;
}

static void find_peak(ikt_memory_plan *plan) {
    plan->largest = IKT_STAGE_CODES;
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (plan->stage[s] > plan->stage[plan->largest]) plan->largest = (ikt_stage)s;
    const int64_t largest = plan->stage[plan->largest];
    plan->base += LIBRARY_BYTES + ikt_smaller(largest / LIBRARY_SHARE, LIBRARY_MORE_BYTES);
    plan->peak = plan->base + largest;
}

/* The loop: positions, what the optimiser and the objective hold. */
static int64_t loop_bytes(const ikt_workload *w) {
    const ikt_layout_settings *layout = &w->settings.layout;
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    const int64_t q = layout->dimensions, n_local = w->distribution.count;
    const bool is_joined = w->is_joined || w->has_matrix; /* other rows by one number */
    const ikt_objective_shape shape = {
        .rows = w->distribution,
        .q = (int)q,
        .options = ikt_layout_options(layout, 0),
        .is_dense = w->is_dense,
        .is_whole = w->is_whole,
        .sampling = w->settings.affinity.whole,
        .psi = w->psi,
        .t = w->t,
        .cut = ikt_workload_cut(w),
        .boundary = (int64_t)ikt_workload_boundary(w),
        .span = ikt_workload_span(w, 1),
        .threads = w->threads,
        .columns = when(w->scores != IKT_SCORES_CODES, is_joined ? 1 : w->columns)};
    const ikt_batch_settings moved = {.count = layout->batch_rows,
                                      .neighbours = layout->batch_neighbours};
    const int64_t batch =
        when(layout->batch_rows != IKT_AUTO_INT, ikt_batch_memory(&moved, n_local));
    /* Positions, once more where the state is written, and what the optimiser remembers. */
    const int64_t arrays = 1 + w->settings.output.state + kind->optimiser->arrays;
    return (LAYOUT_ROW_BYTES + arrays * q * (int64_t)sizeof(float)) * n_local +
           kind->memory(kind, &shape) + batch;
}

/* Writing a model: codes, distinct centres, and what finding these takes. */
static int64_t model_bytes(const ikt_workload *w, int64_t codes) {
    const int64_t centres = w->t * w->psi, distinct = ikt_model_distinct_most(&w->model, centres);
    return codes + 8 * (w->model.pool + w->model.coarse + distinct) +
           ikt_model_distinct_bytes(&w->model, centres, w->threads) + MODEL_BYTES;
}

/* Writing a model of rows: these in blocks, and their scales twice, which change their order. */
static int64_t model_rows_bytes(const ikt_workload *w) {
    const int64_t rows = w->distribution.count;
    const int64_t moving = ikt_order_memory(rows) + ikt_order_memory_transfer(rows);
    return 2 * (int64_t)sizeof(float) * rows + when(w->is_near, moving) + MODEL_ROWS_BYTES;
}

static int64_t measures_bytes(const ikt_workload *w) {
    ikt_measure_settings settings = ikt_measure_defaults();
    const int wanted = w->settings.output.measures;
    settings.cheap_only = wanted == IKT_MEASURES_MAP;
    const ikt_measure_extent extent = {.n = w->distribution.n,
                                       .d = w->columns,
                                       .q = w->settings.layout.dimensions,
                                       .classes = IKT_USUAL_CLASSES,
                                       .ranks = w->ranks,
                                       .threads = w->threads,
                                       .input = wanted == IKT_MEASURES_ALL};
    return when(wanted != IKT_MEASURES_NONE, ikt_measures_memory(&settings, &extent));
}

static const ikt_stage planned[] = {IKT_STAGE_PCA,      IKT_STAGE_CODES,    IKT_STAGE_NEIGHBOURS,
                                    IKT_STAGE_GRAPH,    IKT_STAGE_SPECTRUM, IKT_STAGE_LAYOUT,
                                    IKT_STAGE_MEASURES, IKT_STAGE_PICTURE};

bool ikt_memory_plan_has(int stage) {
    for (size_t s = 0; s < sizeof planned / sizeof *planned; s++)
        if ((int)planned[s] == stage) return true;
    return false;
}

/* Entries of P that are sent at a time, and as many that come. */
static int64_t batch_bytes(const ikt_workload *w) {
    return BATCH_BYTES * ikt_smaller(IKT_TRANSPOSE_BATCH, w->distribution.count * w->k) *
           (w->ranks - 1) / w->ranks;
}

/* Entries of P for each of the lists. Of images a half to two thirds of all pairs are mutual; of
 * noise next to none, the more columns there are, until a row and its mirror image are two:
 * measured on 100,000 rows of 100 columns. Codes have few values. */
static double planned_share(const ikt_workload *w) {
    const double usual = ikt_symmetric_share(w->distribution.n);
    const double columns = (double)when(w->scores == IKT_SCORES_DISTANCES, w->columns);
    return ikt_between(usual, 2, fmin(1, log10(fmax(columns, 10) / 10)));
}

/* Entries of a sparse P, and what they hold when P is made. */
static int64_t planned_entries(const ikt_workload *w) {
    return (int64_t)(planned_share(w) * (double)(w->distribution.count * w->k));
}

static int64_t sparse_p_bytes(const ikt_workload *w) {
    const int64_t entries = planned_entries(w);
    return ikt_affinity_of(&w->settings.affinity)->weighs_alike
               ? BARE_ENTRY_BYTES * entries + entries / 8
               : ENTRY_BYTES * entries;
}

/* Making P of lists, codes or all pairs: lists and symmetrisation, or the dense matrix; weights on
 * their way to a file.
 *   searched       bytes of codes or rows
 *   of_objective   bytes of what the objective holds in the end */
static int64_t graph_bytes(const ikt_workload *w, int64_t searched, int64_t of_objective) {
    const int64_t rows = w->distribution.count, n = w->distribution.n;
    const int64_t entries = rows * w->k;
    const double single = (planned_share(w) - 1) * (single_room - 1) * (double)entries;
    const int64_t joining =
        batch_bytes(w) +
        ENTRY_BYTES * (ikt_smaller(IKT_TRANSPOSE_BATCH, entries) + (int64_t)single) +
        SYMMETRISE_ROW_BYTES * rows + n / 5;
    const int64_t moving = MOVED_ENTRY_BYTES * entries + GRAPH_FILE_BYTES;
    const bool is_moved = w->settings.output.graph[0] && w->is_near;
    /* Values that are dropped in the end. */
    const int64_t values = ENTRY_BYTES * planned_entries(w) - sparse_p_bytes(w);
    if (w->is_whole)
        return searched + ikt_whole_memory_peak(rows, w->psi, w->t, w->ranks, w->threads);
    return when(!w->is_near, searched) + of_objective + when(!w->is_dense, joining + values) +
           when(is_moved, moving);
}

/* Codes while they are computed, or while they and what they were made from are written; and, for
 * checkpoints, how many entries of its code a row has. */
static int64_t codes_bytes(const ikt_workload *w, int64_t codes) {
    const int64_t rows = w->distribution.count;
    const int64_t computed = ikt_codes_memory_peak(&w->rows, rows, &w->model, w->threads);
    const bool is_written = w->settings.output.model[0];
    return ikt_larger(computed, when(is_written, model_bytes(w, codes))) + 4 * rows;
}

/* Both directions of the pairs of a graph (ikt_directed_unite), beside them: what is added to rows,
 * and batches on their way. */
static int64_t uniting_bytes(const ikt_workload *w) {
    const int64_t rows = w->distribution.count, entries = rows * w->k;
    return (int64_t)((ikt_symmetric_share(w->distribution.n) - 1) *
                     (double)(ENTRY_BYTES * entries)) +
           16 * rows + batch_bytes(w);
}

/* A graph on its way from a file to lists, or to what an objective keeps of it. */
static int64_t loading_bytes(const ikt_workload *w, int64_t kept) {
    const int64_t rows = w->distribution.count;
    const int64_t moving = MOVED_ENTRY_BYTES * rows * w->k + ikt_order_memory(rows);
    return when(w->scores == IKT_SCORES_NONE, LOAD_BLOCK_BYTES + LOAD_ROW_BYTES * rows +
                                                  w->distribution.n / 5 + when(w->is_near, moving) +
                                                  when(w->is_joined, kept + uniting_bytes(w)) +
                                                  when(w->has_matrix, kept));
}

/* A matrix of similarities that is not read as it is lies on the ranks for good. */
static int64_t matrix_bytes(const ikt_workload *w) {
    const ikt_input_settings *input = &w->settings.input;
    const bool is_changed = input->symmetrise || input->spectrum != IKT_USE_RAW;
    return when(input->similarities[0] && is_changed,
                w->distribution.count * w->data.n * (int64_t)sizeof(double));
}

/* What can be done where the largest stage does not fit: the first of these that helps. */
static const char *advice(const ikt_workload *w, ikt_stage largest) {
    const bool is_sparse = w->data.is_sparse, is_start = largest == IKT_STAGE_PCA;
    const bool has_map = ikt_settings_has_kernel_map(&w->settings);
    const char *of_search = ikt_affinity_of(&w->settings.affinity)->lighter_search;
    const bool is_full = w->settings.kernel.solver == IKT_KERNEL_FULL;
    const struct {
        bool helps;
        const char *what;
    } ways[] = {
        {largest == IKT_STAGE_PICTURE, "output.picture=none"},
        {is_sparse && largest == IKT_STAGE_MEASURES,
         "output.measures=map: measures of the input take sparse rows dense"},
        {is_sparse && w->scores != IKT_SCORES_CODES,
         "affinity.kind=isolation: the other kernels take sparse rows dense"},
        {matrix_bytes(w) > 0,
         "input.symmetrise=no and input.spectrum=raw: the matrix is not held in memory then"},
        {is_start && !has_map, "preprocess.pca=0 and layout.init=random"},
        {is_start && is_full, "kernel.solver=landmarks"},
        {is_start, "fewer kernel.landmarks"},
        {of_search && largest == IKT_STAGE_NEIGHBOURS, of_search},
        {w->is_dense, "affinity.support=sparse"},
        {w->is_whole, "fewer isolation.partitionings"},
        {true, "fewer affinity.neighbours"}};
    int way = 0;
    while (!ways[way].helps)
        way++;
    return ways[way].what;
}

/* What the stages are made of. */
typedef struct {
    int64_t searched;     /* what neighbours are searched in */
    int64_t p;            /* P in any form */
    int64_t lists;        /* of neighbours */
    int64_t kept;         /* what an objective that compares rows keeps of them */
    int64_t making;       /* an objective that chooses near rows of the lists, meanwhile */
    int64_t of_objective; /* what it is made from, as long as the loop runs */
} parts;

/* Codes, or the rows themselves: what neighbours are searched in. */
static int64_t searched_bytes(const ikt_workload *w) {
    const int64_t rows = w->distribution.count;
    switch (w->scores) {
    case IKT_SCORES_CODES:
        return ikt_codes_memory(rows, w->psi, w->t);
    case IKT_SCORES_CLASSES:
        return rows * ikt_plan_classes_row_bytes(w);
    case IKT_SCORES_DISTANCES:
        return rows * w->columns * (int64_t)sizeof(float);
    default:
        return 0;
    }
}

/* Rows, while lists by codes are gone through by distances. */
static int64_t measured_bytes(const ikt_workload *w) {
    const int64_t bytes = w->columns * (int64_t)sizeof(float), rows = w->distribution.count;
    return when(w->is_measured, rows * bytes + when(w->is_near, rows * bytes) +
                                    ikt_lone_rows_memory(&w->distribution, w->k, bytes));
}

static parts parts_of(const ikt_workload *w, unsigned needs) {
    const ikt_settings *settings = &w->settings;
    const int64_t rows = w->distribution.count, n = w->distribution.n;
    const bool needs_p = needs & IKT_NEEDS_P;
    const bool frees = ikt_layout_objective(&settings->layout)->frees_neighbours;
    parts of = {.searched = searched_bytes(w)};
    /* The whole kernel holds codes, and little beside them. */
    of.p = when(w->is_listed, sparse_p_bytes(w)) + when(w->is_dense, ikt_dense_memory(rows, n));
    if (w->is_whole) of.p = of.searched + ikt_whole_memory(rows, w->psi, w->t, w->ranks);
    /* Neighbour lists; where P is dense, that takes their place. */
    of.lists = when(w->is_listed && !w->is_joined, ikt_neighbours_memory(rows, w->k)) +
               when(w->is_dense && needs_p, of.p);
    /* Codes or rows that an objective keeps; of a matrix of all pairs its own rows; of a graph its
     * pairs, both directions. */
    of.kept = w->has_matrix  ? rows * n * (int64_t)sizeof(float)
              : w->is_joined ? ikt_joined_memory(rows, planned_entries(w))
                             : of.searched;
    const int64_t compared = when(needs & (IKT_NEEDS_CODES | IKT_NEEDS_FEATURES), of.kept);
    /* While an objective is made it has the lists, and the near ones that it chooses of them. */
    const bool has_lists = needs & IKT_NEEDS_NEIGHBOURS && !w->is_dense;
    const int64_t chosen = ikt_neighbours_memory(rows, settings->layout.own.triplet.neighbours);
    of.making = when(has_lists, compared + of.lists + ikt_larger(chosen, measured_bytes(w)));
    of.of_objective = when(needs_p, of.p) + compared + when(has_lists && !frees, of.lists);
    return of;
}

/* P, and what finding some of its eigenvectors takes; the start that comes of them. */
static int64_t spectrum_bytes(const ikt_workload *w, int64_t p) {
    const ikt_layout_settings *layout = &w->settings.layout;
    const int64_t rows = w->distribution.count, q = layout->dimensions;
    const int64_t boundary = w->is_dense ? w->distribution.n : (int64_t)ikt_workload_boundary(w);
    const int64_t vectors = layout->eigengap != IKT_EIGENGAP_OFF ? IKT_EIGENGAP_VALUES : q;
    return p + ikt_spectrum_bytes(rows, boundary, vectors, w->threads) +
           2 * q * rows * (int64_t)sizeof(double);
}

/* A map of similarities: those of its rows and what is solved with them, and the rows or codes that
 * others are compared with; blocks of rows and of similarities that pass by. */
static int64_t kernel_map_bytes(const ikt_workload *w) {
    const ikt_settings *s = &w->settings;
    const int64_t n = w->data.n, alone = IKT_EIGEN_ALONE_MAX, t = s->isolation.partitionings;
    const bool has_codes = ikt_settings_similarity(s) == IKT_SIMILARITY_ISOLATION;
    int64_t m = ikt_chosen(s->kernel.landmarks, alone);
    m = s->kernel.solver == IKT_KERNEL_FULL ? n : ikt_smaller(m, n);
    /* Eight permutations of ten classes, with responses, solutions and coordinates. */
    const int64_t responses = 9 * (IKT_USUAL_CLASSES - 1) * m * 3 * (int64_t)sizeof(double);
    const int64_t psi = w->psi > 0 ? w->psi : n / 8;
    const int64_t codes = ikt_codes_memory(m + w->distribution.count, psi, t) +
                          (int64_t)sizeof(float) * psi * t * w->columns;
    const int64_t compared = has_codes ? codes : when(!w->is_pairs, 12 * m * w->columns);
    /* Own rows of the matrix, once more on their way; and a buffer of ScaLAPACK's redistribution.
     */
    const int64_t matrices = m > alone ? 3 : 2;
    return matrices * 8 * m * (m / w->ranks + 1) + ikt_eigen_bytes(m, w->ranks, alone) + responses +
           compared + 3 * READ_BYTES;
}

/* Principal components of dense rows: those that rows are reduced to, and those of the start, which
 * come when P is there.
 *   p   its bytes */
static int64_t components_bytes(const ikt_workload *w, int64_t reading, int64_t p) {
    const ikt_settings *s = &w->settings;
    const int64_t reduced = s->preprocess.pca, q = s->layout.dimensions, n = w->data.n;
    const int64_t sample = ikt_pca_rows(&s->preprocess, n);
    const bool is_started = s->layout.init == IKT_INIT_PCA && reduced < q && !w->is_pairs &&
                            !w->rows.is_sparse && w->columns > 0;
    const int64_t first = when(
        reduced > 0, ikt_pca_bytes(sample, w->data.d, reduced, w->ranks, w->threads) + reading);
    const int64_t start =
        when(is_started, ikt_pca_bytes(n, w->columns, q, w->ranks, w->threads) + reading + p);
    return ikt_larger(first, start);
}

/* Codes or rows, lists, blocks under way; and whether a row has its list. */
static int64_t searching_bytes(const ikt_workload *w, const parts *of, int64_t reading) {
    const int64_t searched = when(!ikt_workload_has_bytes(w), of->searched + of->lists);
    return w->distribution.count + searched + ikt_plan_search_bytes(w) + ikt_plan_classes_bytes(w) +
           when(w->scores != IKT_SCORES_CODES, reading) + loading_bytes(w, of->kept);
}

ikt_memory_plan ikt_memory_plan_make(const ikt_workload *w, int64_t base) {
    const ikt_settings *settings = &w->settings;
    const int64_t rows = w->distribution.count, q = settings->layout.dimensions;
    const unsigned needs = ikt_layout_objective(&settings->layout)->needs;
    const bool relates = ikt_workload_relates(w), needs_p = needs & IKT_NEEDS_P;
    const bool has_spectrum = ikt_layout_has_spectrum(&settings->layout);
    const bool has_model = settings->output.model[0], has_other = settings->isolation.model_from[0];
    const parts of = parts_of(w, needs);
    const int64_t reading =
        (1 + has_other) *
        reading_bytes(w->data.d, (int64_t)ikt_type_size(w->data.type), w->columns, w->threads);
    /* The own part of the embedding and of the labels, which every stage holds. */
    const int64_t held =
        rows * (q * (int64_t)sizeof(float) + (int64_t)sizeof(int64_t)) + matrix_bytes(w);
    const int64_t searching = relates ? searching_bytes(w, &of, reading) + held : 0;
    const int64_t writing = of.searched + of.lists + model_rows_bytes(w) + reading + held;
    const int64_t looping = of.of_objective + loop_bytes(w), measured = measures_bytes(w);
    const int64_t components = components_bytes(w, reading, when(needs_p, of.p));
    ikt_memory_plan plan = {
        .base = base,
        .stage = {[IKT_STAGE_NEIGHBOURS] = ikt_larger(
                      searching, when(has_model && w->scores != IKT_SCORES_CODES, writing)),
                  [IKT_STAGE_LAYOUT] = ikt_larger(looping, of.making) + held,
                  [IKT_STAGE_MEASURES] = when(measured > 0, measured + held),
                  [IKT_STAGE_PICTURE] = when(settings->output.picture[0], PICTURE_BYTES + held)}};
    if (w->scores == IKT_SCORES_CODES && relates)
        plan.stage[IKT_STAGE_CODES] = codes_bytes(w, of.searched) + reading + held;
    if (needs_p)
        plan.stage[IKT_STAGE_GRAPH] = graph_bytes(w, of.searched, of.of_objective) + reading + held;
    plan.stage[IKT_STAGE_SPECTRUM] = when(has_spectrum, spectrum_bytes(w, of.p) + held);
    plan.stage[IKT_STAGE_PCA] = when(components > 0, components + held);
    if (ikt_settings_has_kernel_map(settings))
        plan.stage[IKT_STAGE_PCA] = kernel_map_bytes(w) + held + when(needs_p, of.p);
    find_peak(&plan);
    plan.advice = advice(w, plan.largest);
    return plan;
}

/* Blocks of old codes that pass by, here and joined; chunks of new rows on their way. */
enum { PASSING_BYTES = 64 << 20, CHUNK_BYTES = 5 << 20, OLD_LABEL_BYTES = 30 };

/* Blocks of old rows that pass by, once more as they are packed; rows whose D to all far rows are
 * there, and tiles of scores. */
enum { PACKED_BYTES = 32 << 20, CHUNK_ROWS = 1024, SCORED_ROWS = 64 };

/* Placing by triplets: rows or codes, lists, and the same of the far rows. */
static int64_t triplets_bytes(const ikt_out_of_sample_size *s, int64_t own, int64_t row_bytes) {
    const int64_t passing = PASSING_BYTES + when(s->model.t <= 0, PACKED_BYTES);
    const int64_t chunk = ikt_larger(CHUNK_ROWS, s->far);
    const int64_t placing = s->far * (2 * row_bytes + 8) +
                            4 * s->far * (chunk + s->threads * SCORED_ROWS) +
                            ikt_triplets_placing_memory(s->near, s->far, (int)s->q, s->threads);
    return own + ikt_neighbours_memory(s->rows, s->k) + 4 * s->rows + ikt_larger(passing, placing);
}

ikt_memory_plan ikt_memory_plan_out_of_sample(const ikt_out_of_sample_size *s, int64_t base) {
    const bool has_codes = s->model.t > 0;
    const int64_t lists = ikt_neighbours_memory(s->rows, s->k);
    const int64_t row_bytes = has_codes ? ikt_codes_memory(1, s->model.psi, s->model.t)
                                        : s->columns * (int64_t)sizeof(float);
    const int64_t compared = s->rows * row_bytes;
    /* Places and what goes with them. */
    const int64_t held = s->rows * (int64_t)(4 * s->q + 8 + 4 + 8 + 8 + 4 + 8);
    /* The partitionings of a model that is read are held as the file has them. */
    const int64_t given = (int64_t)sizeof(int32_t) * s->model.t * s->model.psi;
    const ikt_codes_rows rows = {.d = s->columns, .is_u8 = s->is_u8};
    const int64_t reading =
        reading_bytes(s->columns, ikt_held_bytes(s->is_u8), s->columns, s->threads);
    ikt_memory_plan plan = {
        .base = base + given,
        .advice = "fewer new rows at a time",
        .stage = {[IKT_STAGE_NEIGHBOURS] = compared + s->by_classes + s->references + lists + held +
                                           PASSING_BYTES + when(!has_codes, PACKED_BYTES),
                  [IKT_STAGE_MEASURES] = OLD_LABEL_BYTES * s->n + held}};
    if (has_codes)
        plan.stage[IKT_STAGE_CODES] =
            ikt_codes_memory_peak(&rows, s->rows, &s->model, s->threads) + reading;
    plan.stage[IKT_STAGE_LAYOUT] =
        held + (s->far > 0 ? triplets_bytes(s, compared, row_bytes)
                           : lists + CHUNK_BYTES +
                                 ikt_field_memory(s->n, (int)s->q, s->kernel, s->threads, s->span));
    find_peak(&plan);
    return plan;
}

ikt_status ikt_memory_plan_check(ikt_context *ctx, const ikt_memory_plan *plan) {
    const double megabyte = 1e6;
    const int64_t *stage = plan->stage;
    char stages[256] = "";
    for (size_t s = 0; s < sizeof planned / sizeof *planned; s++)
        if (stage[planned[s]] > 0)
            ikt_join(stages, sizeof stages, ", ", "%s %.0f", ikt_stage_name(planned[s]),
                     (double)stage[planned[s]] / megabyte);
    ikt_log_numbers(
        ctx, ikt_log_record(ctx),
        IKT_LOG_NUMBERS(IKT_LOG_INT("peak_bytes", plan->peak),
                        IKT_LOG_INT("codes_bytes", stage[IKT_STAGE_CODES]),
                        IKT_LOG_INT("neighbours_bytes", stage[IKT_STAGE_NEIGHBOURS]),
                        IKT_LOG_INT("graph_bytes", stage[IKT_STAGE_GRAPH]),
                        IKT_LOG_INT("layout_bytes", stage[IKT_STAGE_LAYOUT]),
                        IKT_LOG_INT("measures_bytes", stage[IKT_STAGE_MEASURES]),
                        IKT_LOG_INT("pca_bytes", stage[IKT_STAGE_PCA]),
                        IKT_LOG_INT("spectrum_bytes", stage[IKT_STAGE_SPECTRUM]),
                        IKT_LOG_INT("picture_bytes", stage[IKT_STAGE_PICTURE]),
                        IKT_LOG_INT("program_bytes", plan->base)),
        "predicted memory per rank: %.0f MB at most (%s, and %.0f of the program in each)",
        (double)plan->peak / megabyte, stages, (double)plan->base / megabyte);
    return ikt_memory_plan_fits(ctx, plan);
}

ikt_status ikt_memory_plan_fits(ikt_context *ctx, const ikt_memory_plan *plan) {
    const double megabyte = 1e6;
    const int64_t more = plan->peak - plan->base;
    const ikt_memory_room left = ikt_memory_left(ctx);
    ikt_status st = IKT_OK;
    if (more > left.bytes)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE,
                      "the stage '%s' needs about %.0f MB more on each rank, but only %.0f MB are "
                      "left for rank %d (%s): use more nodes, or %s",
                      ikt_stage_name(plan->largest), (double)more / megabyte,
                      (double)left.bytes / megabyte, ikt_rank(ctx), left.limit, plan->advice);
    return ikt_agree(ctx, st);
}
