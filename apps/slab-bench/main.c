/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * slab-bench: what objects cost by burst size, pattern and mempool driver.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "bench.h"
#include "shim.h"

/* What runs in about a minute and tells something. */
#define DEFAULT_FILTER "^reuse/[a-z_]+/cache:0/n:(1|8|32|64|256)$"

static void
usage(const char *program)
{
	RTE_SET_USED(program);
	bench_usage();
}

/* Google Benchmark's flags, with the tabular form as the default. */
static int
parse_flags(int argc, char **argv)
{
	static char tabular[] = "--benchmark_counters_tabular=true";
	char **args = calloc((size_t)argc + 2, sizeof(char *));

	if (args == NULL)
		return -1;
	args[0] = argv[0];
	args[1] = tabular;
	memcpy(args + 2, argv + 1, (size_t)(argc - 1) * sizeof(char *));
	argc++;
	bench_shim_init(&argc, args, bench_usage);
	if (argc > 1)
		return bench_error("'%s' is no option, or its value is wrong: see --help", args[1]);
	return 0;
}

/* As Google Benchmark reads yes and no. */
static bool
is_no(const char *value)
{
	static const char *const words[] = { "0", "f", "n", "false", "no", "off" };

	for (unsigned int i = 0; i < RTE_DIM(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* Names are listed whole, not only those of the part that is run without a filter. */
static bool
lists_only(int argc, char **argv)
{
	static const char flag[] = "--benchmark_list_tests";
	size_t len = strlen(flag);
	bool lists = false;	/* the last one counts */

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], flag, len) != 0)
			continue;
		if (argv[i][len] == '\0')
			lists = true;
		else if (argv[i][len] == '=')
			lists = !is_no(argv[i] + len + 1);
	}
	return lists;
}

/* Mistakes on the command line and in the capture show before EAL takes any memory. */
static int
check_arguments(int argc, char **argv)
{
	static char program[] = "slab-bench";
	bool lists = lists_only(argc, argv);

	argv[0] = program;
	if (bench_options_parse(&argc, argv) < 0 || parse_flags(argc, argv) < 0)
		return -1;
	if (bench_opt.trace != NULL && bench_trace_load(bench_opt.trace, bench_opt.gap_us) < 0)
		return -1;
	if (bench_opt.table == NULL && !lists && !bench_shim_has_filter()) {
		bench_shim_set_filter(bench_opt.trace != NULL ? "^trace/" : DEFAULT_FILTER);
		fprintf(stderr, "slab-bench: no --benchmark_filter: a small part is run, %s\n",
			bench_opt.trace != NULL ? "^trace/" : DEFAULT_FILTER);
	}
	return 0;
}

static void
describe_lcores(char *text, size_t size)
{
	unsigned int lcore, cpu, ids[RTE_MAX_LCORE], n;
	size_t len = 0;

	n = bench_lcores_list(BENCH_ALL, UINT_MAX, ids);
	for (unsigned int i = 0; i < n && len < size; i++) {
		rte_cpuset_t set = rte_lcore_cpuset(lcore = ids[i]);

		len += snprintf(text + len, size - len, "%s%u@", i > 0 ? "," : "", lcore);
		for (cpu = 0; cpu < CPU_SETSIZE && len < size; cpu++)
			if (CPU_ISSET(cpu, &set))
				len += snprintf(text + len, size - len, "%u ", cpu);
		len -= len < size;
	}
	text[RTE_MIN(len, size - 1)] = '\0';
}

static void
add_context(void)
{
	const char *options = getenv("MEMPOOL_SLAB");
	char text[512] = "";

	bench_shim_context("dpdk", rte_version());
	snprintf(text, sizeof(text), "%.0f", rte_get_tsc_hz() / 1e6);
	bench_shim_context("tsc_mhz", text);
	snprintf(text, sizeof(text), "%.1f cycles, taken off once by lcore and run",
		bench_clock_cost());
	bench_shim_context("clock", text);
	bench_shim_context("loop", "loop_cycles by object, taken off but in pipelines");
	describe_lcores(text, sizeof(text));
	bench_shim_context("lcores", text);
	if (options != NULL)
		bench_shim_context("MEMPOOL_SLAB", options);
	if (bench_opt.trace != NULL) {
		bench_trace_describe(text, sizeof(text));
		bench_shim_context("trace", text);
	}
}

static int
lay_over_nodes(void)
{
	int ret = apps_slab_nodes(bench_opt.nodes);

	return ret == 0 ? 0 : bench_error("--nodes '%s': no pool of slab with it: %s; the line above "
		"says why", bench_opt.nodes, rte_strerror(-ret));
}

static int
run(void)
{
	if (lay_over_nodes() < 0)
		return EXIT_FAILURE;
	bench_clock_init();
	if (bench_opt.table != NULL)
		return bench_opt.table() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	add_context();
	bench_cases_register();
	return bench_shim_run() == 0 || bench_run_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	int eal_argc = apps_eal_args(argc, argv), status;
	static char program[] = "slab-bench", *none[] = { program, NULL };

	if (eal_argc < argc ? check_arguments(argc - eal_argc, argv + eal_argc) < 0 :
			check_arguments(1, none) < 0)
		return EXIT_FAILURE;
	rte_set_application_usage_hook(usage);
	if (rte_eal_init(eal_argc, argv) < 0) {
		bench_error("EAL did not start: %s; the lines above say why", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	status = run();
	rte_eal_cleanup();
	return status;
}
