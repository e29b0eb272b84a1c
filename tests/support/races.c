/* For tests/fault/races.sh: threads that race, and threads that something orders.
 *   races ordered | sum | nowait | thread */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 2000 };
static double values[N];
static double shared;

/* Everything by which threads of the program wait for each other. */
static void ordered(void) {
    double sum = 0, other = 0;
    int count = 0, next = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < N; i++)
            values[i] = i;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < N; i++)
            sum += values[N - 1 - i]; /* the other thread's half */
#pragma omp critical
        other += omp_get_thread_num();
#pragma omp atomic
        count++;
#pragma omp barrier
#pragma omp single
        shared = other + count;
        omp_set_lock(&lock);
        next += (int)shared;
        omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp master
        shared += next;
    }
    omp_destroy_lock(&lock);
    for (int i = 0; i < N; i++)
        sum += values[i];
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < N; i++)
        values[i] += shared + sum;
    printf("%g\n", values[N - 1]);
}

static void sum_without_reduction(void) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < N; i++)
        shared += i;
}

static void read_before_the_barrier(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for nowait
        for (int i = 0; i < N; i++)
            values[i] = i;
#pragma omp for
        for (int i = 0; i < N; i++)
            values[i] += .5 * values[N - 1 - i];
    }
}

static void *add(void *unused) {
    (void)unused;
    for (int i = 0; i < N; i++)
        shared += i;
    return NULL;
}

static void thread_without_lock(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, add, NULL) != 0) return;
    add(NULL);
    pthread_join(other, NULL);
}

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"ordered", ordered},
                 {"sum", sum_without_reduction},
                 {"nowait", read_before_the_barrier},
                 {"thread", thread_without_lock}};
    for (int i = 0; argc == 2 && i < 4; i++)
        if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run(), 0;
    return 2;
}
