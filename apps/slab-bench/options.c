/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct bench_options bench_opt = { .gap_us = 50 };

static char last_error[512];

int
bench_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof(last_error), format, args);
	va_end(args);
	fflush(stdout);
	fprintf(stderr, "slab-bench: %s\n", last_error);
	return -1;
}

const char *
bench_last_error(void)
{
	return last_error;
}

void
bench_usage(void)
{
	fputs("Usage: slab-bench [EAL options] -- [options] [flags of Google Benchmark]\n"
		"  --table                the kernel's table of bulk sizes, for slab\n"
		"  --table=threads        the kernel's table of its path without locks, for threads\n"
		"                         that are no lcores\n"
		"  --nodes NODES          pools of slab lie over these NUMA nodes: all, or as 0+1;\n"
		"                         those of other drivers stay on one\n"
		"  --trace FILE           replay a capture's bursts and sizes: patterns trace/\n"
		"  --trace-gap US         packets further apart are not of one burst (50)\n"
		"  --help                 print this\n"
		"Of Google Benchmark, most of all:\n"
		"  --benchmark_list_tests=true\n"
		"  --benchmark_filter=REGEX\n"
		"  --benchmark_min_time=SECONDS\n"
		"  --benchmark_repetitions=N\n"
		"  --benchmark_enable_random_interleaving=true\n"
		"  --benchmark_report_aggregates_only=true\n"
		"  --benchmark_out=FILE   (JSON)\n", stdout);
}

static int
parse_gap(const char *text)
{
	char *end;

	errno = 0;
	bench_opt.gap_us = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
			bench_opt.gap_us > 1000000000)
		return bench_error("--trace-gap '%s': give microseconds from 0 to 1000000000", text);
	return 0;
}

/* The value of an option, as --name=value or --name value; NULL when it is another option. */
static const char *
value_of(const char *name, char **argv, int *i)
{
	size_t len = strlen(name);

	if (strncmp(argv[*i], name, len) != 0)
		return NULL;
	if (argv[*i][len] == '=')
		return argv[*i] + len + 1;
	if (argv[*i][len] != '\0')
		return NULL;
	return argv[*i + 1] != NULL ? argv[++*i] : "";
}

/* 1 when the argument asks for a table. */
static int
parse_table(const char *argument)
{
	static const struct {
		const char *argument;
		int (*print)(void);
	} tables[] = {
		{ "--table", bench_table_bulk }, { "--table=threads", bench_table_threads },
	};

	for (unsigned int i = 0; i < RTE_DIM(tables); i++)
		if (strcmp(argument, tables[i].argument) == 0) {
			bench_opt.table = tables[i].print;
			return 1;
		}
	return strncmp(argument, "--table=", strlen("--table=")) != 0 ? 0 :
		bench_error("%s: there is --table, and --table=threads", argument);
}

/* 1 when the argument is one of this program's own. */
static int
parse_argument(char **argv, int *i)
{
	const char *value;
	int ret = parse_table(argv[*i]);

	if (ret != 0)
		return ret;
	value = value_of("--nodes", argv, i);
	if (value != NULL) {
		bench_opt.nodes = value;
		return 1;
	}
	value = value_of("--trace-gap", argv, i);
	if (value != NULL)
		return parse_gap(value) < 0 ? -1 : 1;
	value = value_of("--trace", argv, i);
	if (value == NULL)
		return 0;
	bench_opt.trace = value;
	return value[0] != '\0' ? 1 : bench_error("--trace: give the name of a capture");
}

int
bench_options_parse(int *argc, char **argv)
{
	int kept = 1, ret;

	for (int i = 1; i < *argc; i++) {
		ret = parse_argument(argv, &i);
		if (ret < 0)
			return -1;
		if (ret == 0)
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	*argc = kept;
	return 0;
}
