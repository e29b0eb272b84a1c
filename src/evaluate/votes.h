/* Majority votes. */
#ifndef IKT_EVALUATE_VOTES_H
#define IKT_EVALUATE_VOTES_H

#include <stdint.h>

/* LOCAL. The most frequent of `count` >= 1 votes, the smallest of several; sorts them. */
int64_t ikt_votes_majority(int64_t *votes, int64_t count);

#endif
