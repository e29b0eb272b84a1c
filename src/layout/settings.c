/* Configuration of the loop, and the schedules that "auto" stands for. */
#include <math.h>
#include <stddef.h>

#include "base/log.h"
#include "base/sort.h"
#include "layout/layout.h"
#include "objective/regulariser.h"

#define KEY(...) IKT_KEY_OF(ikt_layout_settings, __VA_ARGS__)

#define CHOICE(name, NAME, help)                                    "|" #name
#define HELP(name, NAME, help)                                      "; " help
#define START(name, NAME, of_p, of_similarities, of_labels, scaled) "|" #name

static const ikt_key layout_keys[] = {
    KEY(dimensions, IKT_KEY_INT, "2", 1, 3, 0, NULL, "dimensions",
        "The dimensions of the map: 1 (a line), 2 (a plane) or 3 (a volume)"),
    KEY(objective, IKT_KEY_CHOICE, "tsne", 0, 0, 0, &(IKT_OBJECTIVE_TABLE(CHOICE))[1], "",
        "The objective that is minimised" IKT_OBJECTIVE_TABLE(HELP)),
    KEY(trade_off, IKT_KEY_REAL, "auto", 0.001, 0.999, 1, NULL, "",
        "The weight of false neighbours (near in the map, far in the data) against missed ones, "
        "for the objectives nerv and jse; auto is 0.5"),
    KEY(degrees_of_freedom, IKT_KEY_REAL, "1", 0.1, INFINITY, 0, NULL, "",
        "The tail of the map's kernel, (1 + r^2 / alpha)^-alpha: alpha is 1 for t-SNE, below 1 for "
        "a heavier tail, which pulls clusters apart into finer ones, and above 1 for a lighter "
        "one, up to inf for the Gaussian kernel of SNE; called dof or df elsewhere "
        "(docs/objectives.md)"),
    KEY(preset, IKT_KEY_CHOICE, "default", 0, 0, 0, "default|matlab", "",
        "The schedule that those keys of this section follow that are left at auto: default is "
        "exaggeration 12 (1.5 below 150 rows) for 250 of 750 iterations; matlab is that of the "
        "Isolation kernel paper "
        "(exaggeration 4 for 100 of 1000 iterations, learning rate 500 on the full gradient, "
        "random start). run.preset gives settings for a whole run"),
    KEY(iterations, IKT_KEY_INT, "auto", 0, 1e7, 1, NULL, "iterations",
        "The number of iterations in all; with stop: auto the most that there may be. auto is that "
        "of the preset (500 more after tsne_iterations), 400 for trimap, 500 for umap and 1000 for "
        "largevis (twice as many from 500,000 rows on), and 0 for pca, eigenmap, kpca and kda"),
    KEY(exaggeration, IKT_KEY_REAL, "auto", 1, 1e3, 1, NULL, "",
        "The factor on the attraction in the first phase, in which clusters form; auto is that of "
        "the preset; that of default is 1.5 below 150 rows, which 12 would hold in one place, but "
        "no "
        "less than final_exaggeration. Landmarks have the factor of all rows"),
    KEY(exaggeration_iterations, IKT_KEY_INT, "auto", 0, 1e7, 1, NULL, "iterations",
        "The length of the first phase; with stop: auto the most that it may have. auto is that of "
        "the preset, below 150 rows in proportion to these"),
    KEY(tsne_iterations, IKT_KEY_INT, "auto", 0, 1e7, 1, NULL, "iterations",
        "The first iterations of nerv and jse, which minimise the KL of t-SNE instead; auto is "
        "those of the preset (750), but at most three fifths of all, and 0 where these are fewer "
        "than exaggeration_iterations, beyond 20,000 rows and with an init_file"),
    KEY(final_exaggeration, IKT_KEY_REAL, "1", 0.01, 1e4, 0, NULL, "",
        "The factor on the attraction after the first phase, until the end (late exaggeration): 1 "
        "is t-SNE; larger ones draw clusters together and show how they connect (4 looks like "
        "UMAP, 30 like ForceAtlas2, docs/schedule.md). The value that is reported stays that of "
        "the objective without a factor"),
    KEY(final_exaggeration_from, IKT_KEY_INT, "auto", 0, 1e7, 1, NULL, "iterations",
        "The iteration from which final_exaggeration holds; auto is the end of the first phase"),
    KEY(stop, IKT_KEY_CHOICE, "fixed", 0, 0, 0, "fixed|auto", "",
        "When the two phases end: fixed ends them at the iterations that are given; auto (opt-SNE) "
        "ends the exaggeration once KL no longer falls faster, and the run once an iteration "
        "lowers KL by less than KL / 10000. The iterations are then upper bounds, which are 2000, "
        "and 1000 of exaggeration, where they are auto"),
    KEY(learning_rate, IKT_KEY_REAL, "auto", 1e-6, 1e12, 1, NULL, "",
        "The step length of the first phase, on a quarter of the gradient as in FIt-SNE and "
        "openTSNE (four times the value that scikit-learn would take); auto is n / exaggeration, "
        "1.2 for trimap, and 1 for sammon, umap and largevis"),
    KEY(final_learning_rate, IKT_KEY_REAL, "auto", 1e-6, 1e12, 1, NULL, "",
        "The step length after the first phase; auto is learning_rate where that is given, and "
        "otherwise n, or n / final_exaggeration where that is less. With the objectives umap and "
        "largevis auto is 1, and the rate falls to 0 in the end; with trimap it is 1.2"),
    KEY(momentum, IKT_KEY_REAL, "auto", 0, 0.999, 1, NULL, "",
        "The momentum before momentum_switch; auto is 0.8, and 0.5 for the preset matlab "
        "and with the objective trimap"),
    KEY(final_momentum, IKT_KEY_REAL, "0.8", 0, 0.999, 0, NULL, "",
        "The momentum from momentum_switch on"),
    KEY(momentum_switch, IKT_KEY_INT, "250", 0, 1e7, 0, NULL, "iterations",
        "The iteration at which the momentum changes"),
    KEY(init, IKT_KEY_CHOICE, "auto", 0, 0, 0, &(IKT_START_TABLE(START))[1], "",
        "Where the rows start: pca, at the first principal components; random, at random "
        "positions; landmark, near landmarks, which are embedded first; file, at the positions in "
        "init_file; spectral, at the eigenvectors of P for its least eigenvalues after 0 "
        "(docs/spectral.md); kpca and kda, at the maps of these objectives. auto is pca, kpca for "
        "similarities, and random for the preset matlab. The components of "
        "sparse rows "
        "are those of 1,024 rows that are drawn at random"),
    KEY(landmarks, IKT_KEY_INT, "auto", 2, 1e6, 1, NULL, "rows",
        "The number of rows that are embedded first (init: landmark); auto is a tenth of the rows, "
        "from 100 to 10,000"),
    KEY(init_file, IKT_KEY_STRING, "", 0, 0, 0, NULL, "",
        "The starting positions, n x dimensions numbers (init: file): an HDF5 file with "
        "/embedding, such as the output of a run; FILE:DATASET of any HDF5 or AnnData file "
        "(data.h5ad:obsm/X_umap); or an NPY or CSV file"),
    KEY(init_scale, IKT_KEY_REAL, "auto", 0, 1e6, 1, NULL, "",
        "The standard deviation of the first coordinate that the positions of init_file, or the "
        "eigenvectors of init: spectral, are scaled to; 0 leaves them as they are, eigenvectors "
        "with a length of 1. auto is 0 for the output of a run, and 1e-4, the spread of the other "
        "starts, for anything else"),
    KEY(repulsion, IKT_KEY_CHOICE, "auto", 0, 0, 0, "auto|fft|exact|barnes_hut", "",
        "How the repulsion of all pairs is summed: exact, in n^2 operations; fft, on a grid, in "
        "two dimensions; barnes_hut, by a tree, for the objectives tsne and jse. auto is exact up "
        "to 3,000 rows (1,000 where degrees_of_freedom is not 1) and where the objective allows "
        "nothing else, and beyond that fft, or "
        "barnes_hut in one and three dimensions"),
    KEY(grid, IKT_KEY_CHOICE, "auto", 0, 0, 0, "auto|replicated|slabs", "",
        "Whether each rank transforms the whole grid of the FFT repulsion (replicated) or the "
        "ranks share it in slabs. The result is the same; auto takes what should be faster"),
    KEY(accuracy, IKT_KEY_CHOICE, "default", 0, 0, 0, "default|tight", "",
        "The accuracy of the repulsion: default has an error of the force of about 1e-2; tight has "
        "1e-4 by FFT and 1e-3 by Barnes-Hut"),
    KEY(regulariser, IKT_KEY_CHOICE, "none", 0, 0, 0, IKT_REGULARISER_NAMES, "",
        "What is added to the objective tsne: laplacian is the regulariser of LaptSNE, which draws "
        "the rows of the map together into regulariser_rank compact groups by the small "
        "eigenvalues of the map's own graph (docs/laptsne.md)"),
    KEY(regulariser_form, IKT_KEY_CHOICE, "sum", 0, 0, 0, "sum|log", "",
        "What is summed over these eigenvalues: sum, the eigenvalues themselves, as the paper "
        "writes; log, their logarithms, as the program of its authors does, whose pull on a group "
        "does not fade and whose maps are much tighter"),
    KEY(regulariser_weight, IKT_KEY_REAL, "auto", 0, 100, 1, NULL, "",
        "The factor lambda on that sum; auto is 0.1, and 0.01 for the form log. Groups that lie "
        "well apart bear three times as much; more costs accuracy among neighbours. 0 only "
        "measures the eigenvalues and leaves the map as it is without a regulariser"),
    KEY(regulariser_rank, IKT_KEY_INT, "auto", 1, 1000, 1, NULL, "eigenvalues",
        "The number of eigenvalues, the one that is always 0 among them, which is the number of "
        "groups that the map is drawn into; auto is where the largest gap between eigenvalues of P "
        "lies"),
    KEY(regulariser_every, IKT_KEY_INT, "1", 1, 1000, 0, NULL, "iterations",
        "The iterations after which the eigenvectors are renewed; the gradient of the regulariser "
        "is computed in every iteration"),
    KEY(regulariser_from, IKT_KEY_INT, "auto", 0, 1e7, 1, NULL, "iterations",
        "The iteration from which the regulariser is on; auto is the end of the first phase"),
    KEY(regulariser_vectors, IKT_KEY_CHOICE, "followed", 0, 0, 0, "followed|exact", "",
        "How the eigenvectors are found: followed, from those of the last iteration by one "
        "product with the matrix of the graph; exact, by as many as bring their residuals to 1e-6, "
        "at about ten times the cost"),
    KEY(batch_rows, IKT_KEY_INT, "auto", 1, 1e9, 1, NULL, "rows",
        "The rows that are drawn in every iteration: they and their nearest rows are moved, and "
        "all others stay (the mini-batches of LaptSNE); auto moves all rows. It saves no time "
        "here, as the gradient of all rows costs what that of a few does"),
    KEY(batch_neighbours, IKT_KEY_INT, "10", 0, 1000, 0, NULL, "rows",
        "The nearest rows by P that are moved with each row that is drawn"),
    KEY(report_every, IKT_KEY_INT, "50", 1, 1e7, 0, NULL, "iterations",
        "The iterations between two values of the trace"),
    KEY(eigengap, IKT_KEY_CHOICE, "off", 0, 0, 0, "off|absolute|relative", "",
        "Whether to find the 31 least eigenvalues of the graph Laplacian of P, which are written "
        "to the result, and the number of clusters that they suggest: that after which the gap to "
        "the next eigenvalue is largest, by the difference (absolute) or by its share of the next "
        "one (relative)")};

const ikt_section ikt_layout_section = {"layout", "How rows are placed in the map", layout_keys,
                                        sizeof layout_keys / sizeof *layout_keys};

typedef struct {
    int64_t iterations, exaggeration_iterations;
    double exaggeration, learning_rate; /* 0: from n */
    double momentum;                    /* before the switch */
    int init;
} schedule;

static const schedule schedules[] = {
    [IKT_PRESET_DEFAULT] = {750, 250, 12, 0, 0.8, IKT_INIT_PCA},
    /* The paper's code steps by 500 times the full gradient: 2000 times a quarter of it. */
    [IKT_PRESET_MATLAB] = {1000, 100, 4, 2000, 0.5, IKT_INIT_RANDOM}};

/* --- the objective ---------------------------------------------------------------------------- */

const ikt_objective_kind *ikt_layout_objective(const ikt_layout_settings *settings) {
    return settings->custom ? settings->custom
                            : ikt_objective_kind_of((ikt_objective_name)settings->objective);
}

ikt_objective_options ikt_layout_options(const ikt_layout_settings *settings, uint64_t seed) {
    return (ikt_objective_options){.trade_off = settings->trade_off,
                                   .degrees = settings->degrees_of_freedom,
                                   .repulsion = settings->repulsion,
                                   .accuracy = settings->accuracy,
                                   .sharing = settings->grid,
                                   .seed = seed,
                                   .own = settings->own,
                                   .regulariser = {.kind = settings->regulariser,
                                                   .form = settings->regulariser_form,
                                                   .weight = settings->regulariser_weight,
                                                   .rank = settings->regulariser_rank,
                                                   .every = settings->regulariser_every,
                                                   .from = settings->regulariser_from,
                                                   .vectors = settings->regulariser_vectors}};
}

/* --- "auto" ----------------------------------------------------------------------------------- */

/* Rows up to which objectives begin with t-SNE, whose iterations such a run has in addition; and
 * how many it then makes of its own. */
static const double rows_of_beginning = 20000;
enum { OWN_ITERATIONS = 500 };

/* Rows below which the first phase is shorter and its factor smaller. The fewer rows there are, the
 * more of all pairs are neighbours, and the less the eigenvalues of P differ from those of even
 * pairs, which repulsion has: 12 draws the rows of such a map into one place, from where they get
 * into a worse minimum, and a larger factor than 1.5 lets few directions unfold. */
static const double rows_of_first_phase = 150, exaggeration_of_few = 1.5;

/* Whether the objective begins with t-SNE; a file of positions takes the place of that. */
static bool has_beginning(const ikt_layout_settings *s, double n) {
    if (!ikt_layout_objective(s)->begins_with_tsne) return false;
    if (s->tsne_iterations != IKT_AUTO_INT) return s->tsne_iterations > 0;
    return n <= rows_of_beginning && !s->init_file[0];
}

/* Iterations of t-SNE before the objective's own; none where they would end before exaggeration. */
static int64_t tsne_share(const ikt_layout_settings *s, const schedule *preset) {
    const int64_t share = 3 * s->iterations / 5;
    const int64_t most = s->stop == IKT_STOP_AUTO ? share : preset->iterations;
    return share < s->exaggeration_iterations ? 0 : ikt_smaller(most, share);
}

/* The step suits the attraction: n / exaggeration in each phase (as openTSNE does), whatever n is:
 * every force on a row is in proportion to the weight of a row, 1 / n. */
double ikt_layout_usual_rate(const ikt_layout_settings *s, double n, bool is_exaggerated) {
    const double own = ikt_layout_objective(s)->learning_rate;
    const double fixed = own > 0 ? own : schedules[s->preset].learning_rate;
    return fixed > 0 ? fixed
                     : n / (is_exaggerated ? s->exaggeration : fmax(1, s->final_exaggeration));
}

/* Fixed lengths are those of the preset; with automatic stop they only keep a run from going on for
 * ever. */
static void resolve_schedule(ikt_layout_settings *s, double n) {
    const schedule *preset = &schedules[s->preset];
    const bool stops = s->stop == IKT_STOP_AUTO;
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    const bool begins = has_beginning(s, n);
    const bool has_many = n >= IKT_MANY_ROWS && kind->many_iterations > 0;
    const int64_t usual = has_many               ? kind->many_iterations
                          : kind->iterations > 0 ? kind->iterations
                                                 : preset->iterations + begins * OWN_ITERATIONS;
    if (s->iterations == IKT_AUTO_INT) s->iterations = stops ? 2000 : usual;
    const int64_t first = stops ? 1000 : preset->exaggeration_iterations;
    if (s->exaggeration_iterations == IKT_AUTO_INT)
        s->exaggeration_iterations =
            ikt_smaller((int64_t)ceil(fmin((double)first, (double)first * n / rows_of_first_phase)),
                        s->iterations);
    if (s->tsne_iterations == IKT_AUTO_INT && kind->begins_with_tsne)
        s->tsne_iterations = begins ? tsne_share(s, preset) : 0;
    if (s->exaggeration <= IKT_AUTO_REAL)
        s->exaggeration = n < rows_of_first_phase && s->preset == IKT_PRESET_DEFAULT
                              ? fmax(exaggeration_of_few, s->final_exaggeration)
                              : preset->exaggeration;
    if (s->momentum <= IKT_AUTO_REAL)
        s->momentum = kind->momentum > 0 ? kind->momentum : preset->momentum;

    const bool is_given = s->learning_rate > IKT_AUTO_REAL;
    if (!is_given) s->learning_rate = ikt_layout_usual_rate(s, n, true);
    if (s->final_learning_rate <= IKT_AUTO_REAL)
        s->final_learning_rate = is_given ? s->learning_rate : ikt_layout_usual_rate(s, n, false);
}

enum { RATE_MOST = 10 }; /* times the rule: beyond it points jump over one another */

/* SAME-ARGS. Compares rates that are given with what auto would be, where that follows from n. */
static void warn_of_rates(ikt_context *ctx, const ikt_layout_settings *s, int64_t n) {
    ikt_layout_settings usual = *s;
    usual.learning_rate = usual.final_learning_rate = IKT_AUTO_REAL;
    resolve_schedule(&usual, (double)n);
    const struct {
        const char *name;
        double given, rule;
    } phase[] = {{"learning_rate", s->learning_rate, usual.learning_rate},
                 {"final_learning_rate", s->final_learning_rate, usual.final_learning_rate}};
    const bool by_n =
        ikt_layout_objective(s)->learning_rate == 0 && schedules[s->preset].learning_rate == 0;
    for (int p = s->exaggeration_iterations > 0 ? 0 : 1; by_n && p < 2; p++) {
        if (phase[p].given <= RATE_MOST * phase[p].rule) continue;
        ikt_warn(ctx,
                 "layout.%s = %g is more than %d times %g, the rule for %lld rows: the map may "
                 "become a ball or a cloud without shape, and auto takes the rule",
                 phase[p].name, phase[p].given, RATE_MOST, phase[p].rule, (long long)n);
        return;
    }
}

/* SAME-ARGS. What is given of late exaggeration, before "auto" is replaced. */
static ikt_status check_final_exaggeration(ikt_context *ctx, const ikt_layout_settings *s) {
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    if (s->final_exaggeration != 1 && !kind->has_exaggeration)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.final_exaggeration = %g, but the objective %s has no attraction "
                        "that could be exaggerated: leave it at 1",
                        s->final_exaggeration, kind->name);
    if (s->final_exaggeration_from != IKT_AUTO_INT && s->stop == IKT_STOP_AUTO)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.final_exaggeration_from = %lld does not go with layout.stop=auto, "
                        "which may end the run before: leave it at auto, for the end of the first "
                        "phase, or take stop=fixed",
                        (long long)s->final_exaggeration_from);
    return IKT_OK;
}

/* SAME-ARGS. Phases in an order that makes sense, once all of them are known. */
static ikt_status check_phases(ikt_context *ctx, const ikt_layout_settings *s) {
    const long long first = s->exaggeration_iterations, all = s->iterations;
    if (first > all)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "layout.exaggeration_iterations = %lld is larger than layout.iterations = %lld", first,
            all);
    if (s->tsne_iterations > s->iterations)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.tsne_iterations = %lld is larger than layout.iterations = %lld",
                        (long long)s->tsne_iterations, all);
    if (s->tsne_iterations > 0 && s->tsne_iterations < first)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.tsne_iterations = %lld ends before the phase of exaggeration, "
                        "which has layout.exaggeration_iterations = %lld: take at least as many, "
                        "or 0",
                        (long long)s->tsne_iterations, first);
    const long long from = s->final_exaggeration_from;
    if (s->final_exaggeration_from != IKT_AUTO_INT && (from < first || from > all))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.final_exaggeration_from = %lld, but it must be from %lld, where "
                        "the first phase ends, to %lld, the number of iterations",
                        from, first, all);
    return IKT_OK;
}

/* More costs accuracy among neighbours on every set that was tried (docs/laptsne.md). */
static const double usual_weight = 0.1, usual_weight_of_log = 0.01;

/* SAME-ARGS. What the regulariser is asked for, for n rows, once the phases are known. */
static ikt_status resolve_regulariser(ikt_context *ctx, ikt_layout_settings *s, int64_t n) {
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    const int64_t rank = s->regulariser_rank;
    if (s->regulariser == IKT_REGULARISER_NONE) return IKT_OK;
    if (kind->state != ikt_regulariser_state)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.regulariser=laplacian is a part of LaptSNE, which adds it to the "
                        "objective tsne, but layout.objective=%s: take objective=tsne, or leave "
                        "the regulariser out",
                        kind->name);
    if (rank == 1)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.regulariser_rank = 1 counts the eigenvalue 0 alone, which no map "
                        "can change: take 2 or more, or leave the regulariser out");
    if (rank == IKT_AUTO_INT && ikt_regulariser_rank_most(n) < 2)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.regulariser=laplacian draws rows together into groups, and %lld "
                        "rows are none: leave the regulariser out",
                        (long long)n);
    if (rank != IKT_AUTO_INT && rank > ikt_regulariser_rank_most(n))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.regulariser_rank = %lld, but it must be at most %lld for %lld "
                        "rows: groups of fewer than four rows are none",
                        (long long)rank, (long long)ikt_regulariser_rank_most(n), (long long)n);
    if (s->regulariser_from != IKT_AUTO_INT && s->regulariser_from > s->iterations)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.regulariser_from = %lld is beyond the last iteration, %lld: it "
                        "would never be on",
                        (long long)s->regulariser_from, (long long)s->iterations);
    if (rank == IKT_AUTO_INT && s->eigengap == IKT_EIGENGAP_OFF)
        s->eigengap = IKT_EIGENGAP_ABSOLUTE;
    if (s->regulariser_weight <= IKT_AUTO_REAL)
        s->regulariser_weight =
            s->regulariser_form == IKT_REGULARISER_LOG ? usual_weight_of_log : usual_weight;
    return IKT_OK;
}

/* SAME-ARGS. Whether rows can be moved in batches. */
static ikt_status check_batch(ikt_context *ctx, const ikt_layout_settings *s, int64_t n) {
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    if (s->batch_rows == IKT_AUTO_INT) return IKT_OK;
    if (!kind->divergence)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.batch_rows moves the rows of a batch and those near them by P, and "
                        "goes with the objectives tsne, nerv, jse and sne, but layout.objective=%s",
                        kind->name);
    if (s->batch_rows > n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.batch_rows = %lld, but there are only %lld rows",
                        (long long)s->batch_rows, (long long)n);
    return IKT_OK;
}

bool ikt_layout_has_spectrum(const ikt_layout_settings *settings) {
    return settings->init == IKT_INIT_SPECTRAL || settings->eigengap != IKT_EIGENGAP_OFF ||
           (settings->regulariser != IKT_REGULARISER_NONE &&
            settings->regulariser_rank == IKT_AUTO_INT);
}

const char *ikt_layout_spectrum_key(const ikt_layout_settings *settings) {
    return settings->init == IKT_INIT_SPECTRAL      ? "layout.init = spectral"
           : settings->eigengap != IKT_EIGENGAP_OFF ? "layout.eigengap"
                                                    : "layout.regulariser_rank = auto";
}

/* SAME-ARGS. Eigenvectors are those of P. */
static ikt_status check_spectrum(ikt_context *ctx, const ikt_layout_settings *s) {
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    if (!ikt_layout_has_spectrum(s) || kind->needs & IKT_NEEDS_P) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s needs the affinities P, and layout.objective=%s makes none: leave it out, "
                    "or take another objective",
                    ikt_layout_spectrum_key(s), kind->name);
}

/* SAME-ARGS. An objective whose start is the map has no iterations and no other start. */
static ikt_status resolve_standing(ikt_context *ctx, ikt_layout_settings *s) {
    const ikt_objective_kind *kind = ikt_layout_objective(s);
    if ((s->init != IKT_INIT_AUTO && s->init != (int)kind->start) || s->init_file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE, "layout.objective=%s is %s", kind->name, kind->map_of);
    s->iterations = 0;
    s->init = (int)kind->start;
    return IKT_OK;
}

ikt_status ikt_layout_resolve(ikt_context *ctx, ikt_layout_settings *settings, int64_t n) {
    const ikt_objective_kind *kind = ikt_layout_objective(settings);
    ikt_objective_options options = ikt_layout_options(settings, 0);
    IKT_TRY(check_final_exaggeration(ctx, settings));
    if (kind->is_start) IKT_TRY(resolve_standing(ctx, settings));
    IKT_TRY(check_spectrum(ctx, settings));
    if (kind->is_annealed && settings->stop == IKT_STOP_AUTO)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "layout.stop=auto does not go with layout.objective=%s, whose steps fall to "
            "0 at the last iteration: give layout.iterations, or leave both out",
            kind->name);
    warn_of_rates(ctx, settings, n);
    resolve_schedule(settings, (double)n);
    IKT_TRY(resolve_regulariser(ctx, settings, n));
    IKT_TRY(check_batch(ctx, settings, n));
    if (kind->resolve) IKT_TRY(kind->resolve(ctx, kind, n, (int)settings->dimensions, &options));
    settings->trade_off = options.trade_off;
    settings->repulsion = options.repulsion;
    settings->own = options.own;
    if (settings->init == IKT_INIT_AUTO)
        settings->init = settings->init_file[0] ? IKT_INIT_FILE : schedules[settings->preset].init;
    if (settings->init == IKT_INIT_FILE && !settings->init_file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE, "layout.init is file, but layout.init_file is not set");
    if (settings->init != IKT_INIT_FILE && settings->init_file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.init_file is set, but layout.init is not file (or auto)");
    if (!ikt_layout_start(settings)->is_scaled && settings->init_scale > IKT_AUTO_REAL)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.init_scale is set, but there is no layout.init_file to scale");
    /* A tenth of the rows, at least a hundred, at most what a comparison of all rows with them
     * allows. */
    if (settings->init == IKT_INIT_LANDMARK && settings->landmarks == IKT_AUTO_INT)
        settings->landmarks = n / 10 < 100 ? ikt_smaller(100, n - 1) : ikt_smaller(n / 10, 10000);
    if (settings->init == IKT_INIT_LANDMARK &&
        (settings->landmarks < 2 || settings->landmarks >= n))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.landmarks = %lld, but it must be from 2 to %lld for %lld rows; or "
                        "take layout.init=pca",
                        (long long)settings->landmarks, (long long)(n - 1), (long long)n);
    return check_phases(ctx, settings);
}
