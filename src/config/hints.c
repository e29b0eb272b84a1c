/* Hints to wrong names. See config.h. */
#include "config/config.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/value.h"

/* --- the nearest ------------------------------------------------------------------------------ */

static bool begins_with(const char *name, const char *letters) {
    const size_t length = strlen(letters);
    return length >= 3 && strncmp(name, letters, length) == 0;
}

/* How far a name is from a wrong one; INT_MAX where it is not near. It is where the names differ by
 * one letter, or by a third of the letters of the longer one at most (insertions, deletions,
 * changes, swaps of neighbours); or where the wrong one has three or more letters, those that the
 * name begins with. */
static int near_distance(const char *wanted, const char *name) {
    const size_t own = strlen(wanted), length = strlen(name);
    const int third = (int)((own > length ? own : length) / 3);
    const int distance = ikt_name_distance(wanted, name);
    if (wanted[0] && distance <= (third > 1 ? third : 1)) return distance;
    return begins_with(name, wanted) ? third + 1 : INT_MAX;
}

ikt_nearest ikt_nearest_begin(const char *wanted) {
    return (ikt_nearest){.wanted = wanted, .distance = INT_MAX};
}

void ikt_nearest_offer_as(ikt_nearest *nearest, const char *name, const char *full, int apart) {
    const int distance = near_distance(nearest->wanted, name);
    if (distance == INT_MAX || distance + apart >= nearest->distance) return;
    nearest->distance = distance + apart;
    snprintf(nearest->name, sizeof nearest->name, "%s", full);
}

void ikt_nearest_offer(ikt_nearest *nearest, const char *name) {
    ikt_nearest_offer_as(nearest, name, name, 0);
}

const char *ikt_nearest_say(ikt_nearest *nearest) {
    nearest->text[0] = '\0';
    if (nearest->name[0])
        snprintf(nearest->text, sizeof nearest->text, "; did you mean '%s'?", nearest->name);
    return nearest->text;
}

/* --- names of other programs ------------------------------------------------------------------ */

/* A list of names, separated by blanks, and what is said to each of them. */
typedef struct {
    const char *names, *sentence;
} peer;

/* clang-format off */
static const peer peers[] = {
    {"n_components no_dims n_dims ndim dims dim dimensions",
     "the dimensions of the map are layout.dimensions (1, 2 or 3)"},
    {"n_iter max_iter n_iters max_iters n_epochs n_iterations maxiter niter epochs",
     "the number of iterations is layout.iterations, those of the early exaggeration included"},
    {"n_jobs n_threads num_threads nthreads ncores n_cores cores nproc num_workers",
     "the threads of a rank are run.threads (or --threads N), and `mpirun -n RANKS` starts ranks"},
    {"random_state random_seed seed rng rand_seed set_seed",
     "the seed of all random draws is run.seed"},
    {"perplexity perplexity_list",
     "the perplexity is gaussian.perplexity, for affinity.kind=gaussian; the Isolation kernel has "
     "none, and isolation.psi sets how sharp it is"},
    {"k n_neighbors n_neighbours num_neighbors nn knn_k k_neighbors n_nn",
     "the number of neighbours of a row is affinity.neighbours"},
    {"metric distance dist_metric distance_metric metric_params",
     "the distance of two rows is preprocess.metric (euclidean, cosine, correlation, manhattan or "
     "precomputed)"},
    {"exaggeration",
     "the early exaggeration is layout.exaggeration, and the one that stays until the end, which "
     "openTSNE calls so, is layout.final_exaggeration"},
    {"late_exaggeration late_exag_coeff late_exaggeration_factor",
     "the exaggeration that stays until the end is layout.final_exaggeration"},
    {"start_late_exag_iter late_exaggeration_iter",
     "the late exaggeration begins at the iteration layout.final_exaggeration_from"},
    {"early_exaggeration exaggeration_factor early_exag_coeff",
     "the early exaggeration is layout.exaggeration, for the first layout.exaggeration_iterations "
     "iterations"},
    {"early_exaggeration_iter stop_lying_iter stop_early_exag_iter exploration_n_iter",
     "the iterations of early exaggeration are layout.exaggeration_iterations"},
    {"learning_rate eta lr learningrate step_size",
     "the step length is layout.learning_rate, and layout.final_learning_rate after the "
     "exaggeration; a quarter of the gradient is taken, so that scikit-learn's value is a quarter "
     "of it"},
    {"momentum initial_momentum mom_switch_iter",
     "the momentum is layout.momentum before the iteration layout.momentum_switch, and "
     "layout.final_momentum from there on"},
    {"init initialization initialisation y_init init_pos init_coords embedding_init",
     "the start is layout.init (pca, random, landmark or file), and layout.init_file names a file "
     "of positions"},
    {"theta angle bh_angle",
     "there is no angle: layout.accuracy (default or tight) sets the accuracy of the repulsion"},
    {"negative_gradient_method method nbody_algo fft_not_bh gradient_method optimizer_method",
     "how the repulsion is summed is layout.repulsion (auto, fft, exact or barnes_hut)"},
    {"min_grad_norm n_iter_without_progress early_stopping tol",
     "layout.stop=auto ends a run once an iteration hardly improves the map"},
    {"callbacks callbacks_every_iters callbacks_every",
     "the trace has a value every layout.report_every iterations"},
    {"neighbors neighbours_method neighbors_method knn_method nn_method approx",
     "how neighbours are found is affinity.search (auto, exact or approximate)"},
    {"precomputed precomputed_distances distance_matrix is_distance dissimilarity",
     "a matrix of all distances is read as the input with preprocess.metric=precomputed, and a "
     "graph of neighbours by input.graph"},
    {"affinities neighbors_key obsp graph_file knn_graph precomputed_knn connectivities",
     "a graph of neighbours that is there already is input.graph"},
    {"missing missing_values na_values nan_policy impute imputer",
     "what happens to missing values is preprocess.missing (refuse, mean, median or drop)"},
    {"n_pcs n_pca initial_dims pca_components pca_dims n_pc",
     "the number of principal components to reduce the rows to is preprocess.pca; those that an "
     "AnnData file holds are read by input.dataset=obsm/X_pca"},
    {"normalize standardize standardise scaling zscore scaler",
     "how columns are brought to one scale is preprocess.normalise (auto, none, minmax, "
     "zscore or unit)"},
    {"use_rep layer obsm basis use_raw",
     "the matrix of a file is input.dataset, in an AnnData file such as obsm/X_pca or layers/NAME"},
    {"columns features usecols skip_columns ignore_columns drop_columns",
     "of a CSV file input.dataset names the columns to embed, and input.skip_columns those to "
     "leave out"},
    {"dataset array", "the data set of the input file is input.dataset=NAME"},
    {"labels label y groupby classes target cluster_key",
     "the classes of the rows are input.labels=NAME; they are not used for the embedding"},
    {"color colour color_by hue",
     "the classes that colour the picture are input.labels=NAME, and --colour-by of `iktsne plot` "
     "and `iktsne view` names any column"},
    {"input in infile filename adata data_file input_file",
     "the file of the data is input.file, or simply the first name on the command line"},
    {"output out o outfile output_file result_file",
     "the file of the result is output.file, or simply the second name on the command line"},
    {"key_added obsm_key",
     "the name of a map in an AnnData file is --key of `iktsne export`"},
    {"overwrite force clobber f",
     "outputs that exist are replaced with output.overwrite=yes in a run, and with --overwrite in "
     "other verbs"},
    {"verbose verbosity v debug",
     "--verbose prints the details of each stage, and --quiet nothing but warnings and results"},
    {"t n_estimators n_trees num_trees ntrees",
     "the number of partitionings is isolation.partitionings"},
    {"max_samples subsample_size",
     "the number of centres of a partitioning is isolation.psi"},
    {"n_landmarks", "the number of landmarks is layout.landmarks, for layout.init=landmark"},
    {"dof df degrees_of_freedom degree_of_freedom",
     "the degrees of freedom of the map's kernel are layout.degrees_of_freedom (1 is t-SNE)"},
    {"min_dist spread repulsion_strength gamma negative_sample_rate",
     "UMAP has umap.min_dist, umap.spread, umap.repulsion and umap.negatives, for --preset umap or "
     "layout.objective=umap; how tight clusters lie in a map of t-SNE is set by "
     "layout.final_exaggeration and layout.degrees_of_freedom"},
    {"local_connectivity set_op_mix_ratio",
     "UMAP's weights, affinity.kind=fuzzy, have the local connectivity 1 and are united wholly"},
    {"gpu device use_gpu cuda backend",
     "the program runs on processors only, so there is no device to choose"},
};
/* clang-format on */
enum { PEERS = sizeof peers / sizeof *peers };

static bool holds(const char *names, const char *name, size_t length) {
    for (; *names; names += strcspn(names, " "), names += strspn(names, " "))
        if (strcspn(names, " ") == length && strncmp(names, name, length) == 0) return true;
    return false;
}

const char *ikt_peer_hint(const char *name) {
    char plain[64];
    size_t length = 0;
    for (; name[length] && length < sizeof plain; length++)
        plain[length] = name[length] == '-' ? '_' : (char)tolower((unsigned char)name[length]);
    if (length == 0 || length == sizeof plain) return NULL;
    for (int p = 0; p < PEERS; p++)
        if (holds(peers[p].names, plain, length)) return peers[p].sentence;
    return NULL;
}

const char *ikt_peer_hint_at(int i) {
    return i >= 0 && i < PEERS ? peers[i].sentence : NULL;
}
