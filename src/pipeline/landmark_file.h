/* Landmarks as a data set file: some rows that stand for all, to be embedded in their place.
 *
 * The way of LaptSNE (Sun, Han & Fan 2022, section 3.5, algorithm 2) with large data: k-means with
 * as many centres as there shall be landmarks, a map of these, and all other rows placed in it,
 * here by `iktsne transform`. The paper takes the centres themselves; here a landmark is the row
 * that is nearest to a centre, so that it has a label and the type of the data.
 */
#ifndef IKT_PIPELINE_LANDMARK_FILE_H
#define IKT_PIPELINE_LANDMARK_FILE_H

#include "settings/settings.h"

/* What `iktsne landmarks` and studies begin with, beside the 10,000 landmarks of the paper. */
#define IKT_LANDMARK_STEPS_TEXT "10"
enum { IKT_LANDMARK_STEPS = 10 };

typedef struct {
    int64_t count; /* landmarks, less than there are rows */
    int64_t steps; /* of k-means at most; 0: rows drawn at random */
} ikt_landmark_request;

/* COLLECTIVE. Chooses landmarks of the rows of settings->input under settings->preprocess, by the
 * seed of settings->run, and writes them as they are in the input, in their order, to
 * settings->output.file: /X (dense), /labels with their names where the input has them, and /rows,
 * their numbers there.
 *   found   how many they are; fewer than asked for where rows lie in fewer places, with a warning
 * Errors: IKT_ERR_USAGE (no rows, no Euclidean distances, as many landmarks as rows), IKT_ERR_DATA
 * (labels beyond 32 bits), IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_landmark_file_write(ikt_context *ctx, const ikt_settings *settings,
                                   const ikt_landmark_request *request, int64_t *found);

#endif
