/* Examples of each verb, for its help and its manual page. */
#ifndef IKT_APP_EXAMPLES_H
#define IKT_APP_EXAMPLES_H

typedef struct {
    const char *verb;    /* "embed" */
    const char *command; /* as it would be typed */
    const char *help;    /* what it does, or NULL */
} ikt_example;

/* LOCAL. i-th example of a verb; of any verb for NULL. NULL beyond the last. */
const ikt_example *ikt_example_of(const char *verb, int i);

#endif
