/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Strings of options, as an application or MEMPOOL_SLAB may have them. What is accepted makes a pool,
 * within the limits that are documented; what is not is said in exactly one line.
 */

#include <errno.h>

#include <rte_log.h>

#include "fuzz_eal.h"
#include "mempool_slab_private.h"

static char *text;
static size_t text_size;

static void
check_accepted(struct slab_conf *conf, const struct mempool_slab_plan *plan)
{
	MUST(text[0] == '\0');
	MUST(conf->magazine <= SLAB_MAX_MAGAZINE);
	MUST(conf->lcore_partial <= SLAB_MAX_LCORE_PARTIAL);
	MUST(conf->thread_cache <= SLAB_THREADS_OFF);
	MUST(conf->check || !conf->track);
	MUST(plan->nodes >= 1 && plan->nodes <= SLAB_MAX_NODES);
	conf->nodes = plan->nodes;
	/* Depots can ask for more than there may be; that is said when the pool is made. */
	conf->depot = conf->depot == SLAB_AUTO ? SLAB_AUTO : conf->depot % 1000;
	MUST(slab_pool_size(conf) != 0);
}

static void
check_refused(void)
{
	MUST(strncmp(text, "mempool_slab: pool fuzz: ", 25) == 0);
	MUST(strchr(text, '\n') == text + strlen(text) - 1);
	MUST(strstr(text, "allowed") != NULL || strstr(text, "wanted") != NULL ||
		strstr(text, "nodes") != NULL);
}

/* Lines have no others inside of them. */
static char *
take_text(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	size_t i;

	MUST(copy != NULL);
	for (i = 0; i < size; i++)
		copy[i] = data[i] == '\0' || data[i] == '\n' ? ' ' : (char)data[i];
	copy[size] = '\0';
	return copy;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start_eal("--no-telemetry");
	rte_log_set_global_level(RTE_LOG_ERR);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rte_mempool mp = { .name = "fuzz", .size = 1000 };
	struct mempool_slab_plan plan = { .nodes = 1 };
	struct slab_conf conf = { .objects = 1000, .stride = 64, .align = 64, .lcores = 4,
		.active_lcores = 1, .depot = SLAB_AUTO, .min_partial = SLAB_AUTO,
		.lcore_cache = true };
	char *options = take_text(data, size);
	FILE *log = open_memstream(&text, &text_size);
	int ret;

	MUST(log != NULL);
	rte_openlog_stream(log);
	/* Half of them come by the environment. */
	if (size % 2 == 0) {
		setenv("MEMPOOL_SLAB", options, 1);
		ret = mempool_slab_options(&mp, &conf, &plan);
		unsetenv("MEMPOOL_SLAB");
	} else {
		mp.pool_config = options;
		ret = mempool_slab_options(&mp, &conf, &plan);
	}
	rte_openlog_stream(NULL);
	fclose(log);
	MUST(ret == 0 || ret == -EINVAL);
	if (ret == 0)
		check_accepted(&conf, &plan);
	else
		check_refused();
	free(text);
	free(options);
	return 0;
}
