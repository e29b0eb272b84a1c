/* What is said to someone who writes a name that there is none of.
 *
 * Two kinds of help: the nearest right name, where one is near enough to be what was meant; and,
 * for names that other programs give to what this one calls otherwise (openTSNE, scikit-learn,
 * FIt-SNE, Rtsne, umap-learn, scanpy), one sentence with the name here, or why there is none.
 */
#ifndef IKT_CONFIG_HINTS_H
#define IKT_CONFIG_HINTS_H

#include <stdbool.h>

/* LOCAL, pure. Whether a wrong name may stand for `name`: it differs by one letter, or by a third
 * of the letters of the longer one at most (insertions, deletions, changes, swaps of neighbours);
 * or its three or more letters are those that `name` begins with. */
bool ikt_name_is_near(const char *wanted, const char *name);

/* The nearest of the names that were offered so far. */
typedef struct {
    const char *wanted;
    char name[160]; /* "" while none is near */
    int distance;   /* of that name */
    char text[360];
} ikt_nearest;

/* LOCAL. Begins with the wrong name, which is lent. */
ikt_nearest ikt_nearest_begin(const char *wanted);

/* LOCAL. Offers a right name. Where several are equally near the first one stays. */
void ikt_nearest_offer(ikt_nearest *nearest, const char *name);

/* LOCAL. Offers a right name that is called `full` ("layout.init") and lies `apart` farther away
 * than its letters say, such as in another section. */
void ikt_nearest_offer_as(ikt_nearest *nearest, const char *name, const char *full, int apart);

/* LOCAL. The end of a message: "; did you mean 'NAME'?", or "" where none was near. Held by
 * `nearest`. */
const char *ikt_nearest_say(ikt_nearest *nearest);

/* LOCAL, pure. The sentence on a name that other programs use, without its full stop; NULL for any
 * other name. Large letters and - in place of _ do not matter. */
const char *ikt_peer_hint(const char *name);

/* LOCAL, pure. i-th sentence of the table, NULL beyond the last: for tests. */
const char *ikt_peer_hint_at(int i);

#endif
