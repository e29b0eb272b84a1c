/* Majority votes. */
#include "evaluate/votes.h"

#include "base/sort.h"

/* In ascending order the smallest of several comes first. */
int64_t ikt_votes_majority(int64_t *votes, int64_t count) {
    int64_t best = votes[0], most = 0, run = 0;
    ikt_sort_i64(votes, count);
    for (int64_t e = 0; e < count; e++) {
        run = e > 0 && votes[e] == votes[e - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            best = votes[e];
        }
    }
    return best;
}
