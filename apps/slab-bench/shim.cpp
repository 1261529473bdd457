/* SPDX-License-Identifier: BSD-3-Clause */

#include <regex>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "shim.h"

/* What is opaque is the library's own, under another name. */
static benchmark::State &
real(struct bench_state *state)
{
	return *reinterpret_cast<benchmark::State *>(state);
}

void
bench_shim_init(int *argc, char **argv, void (*help)(void))
{
	benchmark::Initialize(argc, argv, help);
}

bool
bench_shim_has_filter(void)
{
	return !benchmark::GetBenchmarkFilter().empty();
}

void
bench_shim_set_filter(const char *regex)
{
	benchmark::SetBenchmarkFilter(regex);
}

/* As the library reads a filter: "all" is all, a minus in front turns it around. */
bool
bench_shim_selects(const char *name)
try {
	std::string spec = benchmark::GetBenchmarkFilter();
	bool other = !spec.empty() && spec[0] == '-';

	if (spec.empty() || spec == "all")
		return true;
	std::regex regex(spec.substr(other ? 1 : 0), std::regex_constants::extended);
	return std::regex_search(name, regex) != other;
} catch (const std::regex_error &) {
	return false; /* the library will complain */
}

void
bench_shim_context(const char *key, const char *value)
{
	benchmark::AddCustomContext(key, value);
}

struct bench_family *
bench_shim_register(const char *name, const char *const *arg_names, unsigned int nb_args,
	void (*run)(struct bench_state *state, void *arg), void *arg)
{
	auto *family = benchmark::RegisterBenchmark(name, [run, arg](benchmark::State &state) {
		run(reinterpret_cast<struct bench_state *>(&state), arg);
	});

	family->ArgNames(std::vector<std::string>(arg_names, arg_names + nb_args));
	return reinterpret_cast<struct bench_family *>(family);
}

void
bench_shim_args(struct bench_family *family, const int64_t *args, unsigned int nb_args)
{
	reinterpret_cast<benchmark::internal::Benchmark *>(family)->Args(
		std::vector<int64_t>(args, args + nb_args));
}

size_t
bench_shim_run(void)
{
	return benchmark::RunSpecifiedBenchmarks();
}

int64_t
bench_state_arg(const struct bench_state *state, unsigned int i)
{
	return reinterpret_cast<const benchmark::State *>(state)->range(i);
}

uint64_t
bench_state_wanted(const struct bench_state *state)
{
	return reinterpret_cast<const benchmark::State *>(state)->max_iterations;
}

bool
bench_state_keep_running(struct bench_state *state, uint64_t batch)
{
	return real(state).KeepRunningBatch(static_cast<benchmark::IterationCount>(batch));
}

void
bench_state_counter(struct bench_state *state, const char *name, double value)
{
	real(state).counters[name] = benchmark::Counter(value);
}

void
bench_state_fail(struct bench_state *state, const char *why)
{
	real(state).SkipWithError(why);
}
