/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/*
 *     model_NAME [SEARCH [ITERATIONS [SCENARIO]]]
 *
 * SEARCH is random (default), full, or a number: then all executions with at most so many
 * preemptions. Each scenario must pass, and each of its mutants must not.
 */

#define DEFAULT_ITERATIONS 100000
/* A mutant gets more time than the code: it may take long to fail. */
#define PATIENCE 20

static bool
passes(const struct model_scenario *s, const struct model_effort *effort)
{
	uint64_t done;
	bool good = model_check(s, NULL, effort, &done);

	printf("%-24s %-28s %s after %" PRIu64 "\n", s->name, "as it ships",
		good ? "passes" : "FAILS", done);
	if (!good)
		printf("%s\n", model_history());
	return good;
}

static bool
caught(const struct model_scenario *s, const struct model_mutant *m,
	const struct model_effort *effort)
{
	struct model_effort patient = { MODEL_RANDOM, PATIENCE * effort->iterations, 0 };
	uint64_t done;
	bool survives = model_check(s, m, &patient, &done);

	printf("%-24s %-28s %s after %" PRIu64 "\n", s->name, m->name,
		survives ? "SURVIVES" : "is caught", done);
	if (getenv("MODEL_VERBOSE") != NULL && !survives)
		printf("%s\n", model_history());
	return !survives;
}

static bool
check(const struct model_scenario *s, const struct model_effort *effort)
{
	const struct model_mutant *m;
	bool good = passes(s, effort);

	for (m = s->mutants; m->name != NULL; m++)
		good &= caught(s, m, effort);
	return good;
}

static struct model_effort
effort_of(int argc, char **argv)
{
	struct model_effort effort = { MODEL_RANDOM, DEFAULT_ITERATIONS, 0 };

	if (argc > 1 && strcmp(argv[1], "full") == 0)
		effort.search = MODEL_FULL;
	else if (argc > 1 && strcmp(argv[1], "random") != 0)
		effort.search = MODEL_BOUND;
	if (effort.search == MODEL_BOUND)
		effort.bound = (unsigned int)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		effort.iterations = strtoull(argv[2], NULL, 10);
	return effort;
}

int
main(int argc, char **argv)
{
	struct model_effort effort = effort_of(argc, argv);
	const struct model_scenario *s;
	bool good = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (s = model_scenarios; s->name != NULL; s++)
		if (argc <= 3 || strcmp(argv[3], s->name) == 0)
			good &= check(s, &effort);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
