/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Google Benchmark for C: what of it these benchmarks need. The one place where C++ is.
 */

#ifndef BENCH_SHIM_H
#define BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of a benchmark; lives until the call returns. */
struct bench_state;

/* Takes Google Benchmark's flags out of argv; exits on --help, after the call of help. */
void bench_shim_init(int *argc, char **argv, void (*help)(void));

/* Whether --benchmark_filter, or the filter set below, selects the name. */
bool bench_shim_selects(const char *name);
bool bench_shim_has_filter(void);
void bench_shim_set_filter(const char *regex);

/* A line of context, on top of every output. */
void bench_shim_context(const char *key, const char *value);

/* Benchmarks with a name in common, which differ by numbers. */
struct bench_family;

/* The names of the numbers; the argument is handed to each call of run, and must stay. */
struct bench_family *bench_shim_register(const char *name, const char *const *arg_names,
	unsigned int nb_args, void (*run)(struct bench_state *state, void *arg), void *arg);

/* One benchmark more, with these numbers: as many as there are names. */
void bench_shim_args(struct bench_family *family, const int64_t *args, unsigned int nb_args);

/* Returns how many of the registered benchmarks the filter selected. */
size_t bench_shim_run(void);

/* One of the numbers of this benchmark. */
int64_t bench_state_arg(const struct bench_state *state, unsigned int i);

/* How many iterations this call is to do. */
uint64_t bench_state_wanted(const struct bench_state *state);

/*
 * True when another batch of so many iterations is to be run. Google Benchmark's clock runs
 * from the first true to the first false.
 */
bool bench_state_keep_running(struct bench_state *state, uint64_t batch);

void bench_state_counter(struct bench_state *state, const char *name, double value);

/* Instead of keep_running: the benchmark ends with an error. */
void bench_state_fail(struct bench_state *state, const char *why);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_SHIM_H */
