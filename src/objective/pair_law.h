/* What an objective takes from a pair of P's support: three terms of p_ij and r^2 = |y_i - y_j|^2.
 *
 * With w the kernel of the map (1 / (1 + r^2), for SNE exp(-r^2)):
 *
 *   law    weight: sum_j weight (y_i - y_j) is the pull   balance                 value
 *   tsne   p w                                            -                       p log(p / w)
 *   nerv   a p w + b l w^2,  l = log max(c p, 1)          l w                     p log(p / w)
 *   jse    l w^2,  l = log(1 + a p / w)                   l w                     p (log(c p / w) -
 * l) sne    p                                              -                       p (log p + r^2)
 *
 * Where the constants come from: docs/objectives.md, nerv.c, jse.c. */
#ifndef IKT_OBJECTIVE_PAIR_LAW_H
#define IKT_OBJECTIVE_PAIR_LAW_H

typedef enum { IKT_LAW_TSNE, IKT_LAW_NERV, IKT_LAW_JSE, IKT_LAW_SNE } ikt_law;

typedef struct {
    ikt_law law;
    float a, b, c;
} ikt_pair_law;

#endif
