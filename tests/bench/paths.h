/* The hot paths. Each function makes data, measures one path in one or several sizes, and cleans
 * up. COLLECTIVE, all of them; errors: IKT_ERR_RESOURCE. */
#ifndef IKT_BENCH_PATHS_H
#define IKT_BENCH_PATHS_H

#include "harness.h"

typedef ikt_status bench_path(bench *b);

bench_path bench_path_machine;                                  /* path_machine.c */
bench_path bench_path_codes_u8, bench_path_codes_f32;           /* path_codes.c */
bench_path bench_path_lists, bench_path_near;                   /* path_lists.c */
bench_path bench_path_trees;                                    /* path_trees.c */
bench_path bench_path_similarity, bench_path_distance;          /* path_pairs.c */
bench_path bench_path_selection;                                /* path_pairs.c */
bench_path bench_path_graph, bench_path_attraction;             /* path_graph.c */
bench_path bench_path_triplets;                                 /* path_triplets.c */
bench_path bench_path_negatives;                                /* path_negatives.c */
bench_path bench_path_spread, bench_path_fft;                   /* path_map.c */
bench_path bench_path_gather;                                   /* path_map.c */
bench_path bench_path_charges;                                  /* path_charges.c */
bench_path bench_path_step, bench_path_z, bench_path_sum;       /* path_rows.c */
bench_path bench_path_halo, bench_path_grid, bench_path_reduce; /* path_ranks.c */

#endif
