/* Data sets with a known answer, generated: synthetic sets of the papers, surfaces, images.
 *
 * Method: row i of a set is a pure function of (settings, seed, i): its random numbers are the
 * counter-based draws of that row. Ranks and threads generate their own rows and write them in
 * parallel. Advantage: no data is sent, any size fits, and the data in the file is the same for
 * every number of ranks and threads. Disadvantage: nothing can depend on the rows generated so far.
 *
 *   ikt_generate_defaults(ctx, &settings); settings.points = 70000;
 *   ikt_generation_open(ctx, "glyphs", &settings, seed, &generation);
 *   ikt_generation_write(generation, "glyphs.h5", overwrite);
 *   ikt_generation_close(&generation);
 */
#ifndef IKT_DATA_GENERATE_H
#define IKT_DATA_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "io/sources/source.h"

/* "auto" in the members below is "the set's own default". Which settings a set has, and their
 * defaults there, is in its ikt_generator; giving one that it has not is an error. */
typedef enum { IKT_SCALE_AUTO, IKT_SCALE_SD, IKT_SCALE_VARIANCE } ikt_generate_scale;
typedef enum { IKT_ORIGINALS_AUTO, IKT_ORIGINALS_YES, IKT_ORIGINALS_NO } ikt_generate_originals;

typedef struct {
    int64_t points;     /* rows */
    int64_t dimensions; /* columns */
    int64_t clusters;
    double separation;            /* root mean square distance of two centres, in cluster sds */
    double noise;                 /* sd of the noise added to each coordinate */
    int scale;                    /* ikt_generate_scale: what k^4 is to cluster k */
    double strength;              /* factor of all deformations of images */
    char source[IKT_STRING_MAX];  /* file a set is made from: /X, and /labels where it has them */
    double share;                 /* of the source's rows that are kept */
    char classes[IKT_STRING_MAX]; /* labels of the rows that are kept, "0,2"; "all" */
    int keep_originals;           /* ikt_generate_originals: the first rows are the images as is */
} ikt_generate_settings;

/* The settings as keys (names, types, ranges, help), in the order of the struct. */
extern const ikt_section ikt_generate_section;

/* A setting that a set has. */
typedef struct {
    const char *key;
    const char *fallback; /* its default as a user would write it; "" = must be given */
} ikt_generate_use;

typedef struct ikt_generation ikt_generation;

enum { IKT_GENERATE_USES_MAX = 8 };

/* A kind of data set; all of them are in the table of generate.c. */
typedef struct {
    const char *name; /* "swiss-roll" */
    const char *help; /* one line: what it is, and what the labels are */
    ikt_generate_use uses[IKT_GENERATE_USES_MAX]; /* ended by a NULL key */
    ikt_type type;                                /* of an element */
    int64_t columns;                              /* 0: prepare sets them */
    bool labels;                                  /* false: there are none */

    /* COLLECTIVE, may be NULL. Checks the completed settings and sets columns, and where the set
     * has them origin and state, which close() frees in any case. Returns an agreed status. */
    ikt_status (*prepare)(ikt_generation *generation);

    /* LOCAL, may be NULL. Frees what `state` owns besides itself. */
    void (*release)(void *state);

    /* LOCAL, thread-safe, pure. Fills one row [columns] of `type` and its label. */
    void (*row)(const ikt_generation *generation, int64_t row, void *out, int32_t *label);
} ikt_generator;

/* A set with its settings: what a generator's functions work on, and a caller may read. */
struct ikt_generation {
    ikt_context *ctx;
    const ikt_generator *generator;
    ikt_generate_settings settings; /* complete: nothing is auto but what the set has not */
    uint64_t seed;
    int64_t columns; /* set by prepare, unless the generator says it */
    int64_t origin;  /* row that lies at the origin and is marked; -1: none */
    bool has_labels; /* generator->labels, unless prepare finds none in the source */
    void *state;     /* of the generator, from ikt_alloc; NULL: none */
};

/* LOCAL. The i-th generator; NULL from i = their number on. */
const ikt_generator *ikt_generator_at(int i);

/* LOCAL. Sets every setting to auto. Errors: IKT_ERR_INTERNAL (a defect of the key table). */
ikt_status ikt_generate_defaults(ikt_context *ctx, ikt_generate_settings *settings);

/* COLLECTIVE, same arguments. Finds the generator, completes and checks the settings, reads the
 * source of a set that has one: every rank then holds all of it (rows * columns bytes, accounted).
 * Errors: IKT_ERR_USAGE (no such set, with the nearest; a setting that the set has not, lacks, or
 * cannot use), IKT_ERR_FILE and IKT_ERR_DATA (the source), IKT_ERR_RESOURCE (the source does not
 * fit). */
ikt_status ikt_generation_open(ikt_context *ctx, const char *name,
                               const ikt_generate_settings *settings, uint64_t seed,
                               ikt_generation **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_generation_close(ikt_generation **generation);

/* LOCAL. Generates rows first .. first + count - 1 with the context's threads.
 *   rows     [count * columns] of the generator's type
 *   labels   [count]; untouched where has_labels is false; NULL allowed */
void ikt_generation_fill(const ikt_generation *generation, int64_t first, int64_t count, void *rows,
                         int32_t *labels);

/* COLLECTIVE, same arguments. Writes the whole set as an HDF5 file: /X, /labels and /marked where
 * it has them, and as attributes the set's name, version, seed and settings. Memory: about 4 MiB a
 * rank. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_generation_write(ikt_generation *generation, const char *path, bool overwrite);

/* The generators by family; the table of generate.c lists them in this order. A family is a file.
 * It describes each of its sets by one const struct: a new set is one file or struct, one line here
 * and one in the table. */

/* generate_formulas.c: the papers' clusters that live in subspaces of their own; clusters in
 * general position, and no structure at all; surfaces in three dimensions. */
extern const ikt_generator ikt_generator_five_subspace, ikt_generator_two_subspace,
    ikt_generator_shared_subspace, ikt_generator_gaussian_mixture, ikt_generator_uniform_2d,
    ikt_generator_swiss_roll, ikt_generator_s_curve, ikt_generator_sphere;

/* glyphs.c, deform.c: images of 8-bit pixels. */
extern const ikt_generator ikt_generator_glyphs, ikt_generator_deform;

/* derived.c: what shows whether a map keeps the structure of a given set. */
extern const ikt_generator ikt_generator_subset, ikt_generator_outlier, ikt_generator_copies;

/* LOCAL. For row functions: draw number `draw` of the row, standard normal or uniform in [0, 1). */
double ikt_generate_normal(const ikt_generation *generation, int64_t row, uint64_t draw);
double ikt_generate_uniform(const ikt_generation *generation, int64_t row, uint64_t draw);

/* COLLECTIVE. For sets that are made of a given one: gives every rank all rows of the source, of
 * which each reads a part.
 *   source   of g->columns columns
 *   type     uint8, which the source has, or float32, to which values of any type are brought
 *   rows     receives [rows of the source * columns]; labels: [rows of the source], NULL where the
 *            source has none; both owned by the caller, also after a failure
 * Errors: IKT_ERR_RESOURCE (does not fit), IKT_ERR_DATA (labels beyond 32 bits), the source's. */
ikt_status ikt_generate_load(ikt_generation *g, ikt_source *source, ikt_type type, void **rows,
                             int32_t **labels);

#endif
