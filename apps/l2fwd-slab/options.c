/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "l2fwd.h"

struct l2fwd_options l2fwd_opt = {
	.ports_per_lcore = 1,
	.period = 10,
	.cache = 256,
	.burst = 32,
};

int
l2fwd_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("l2fwd-slab: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

void
l2fwd_usage(const char *program)
{
	printf("Usage: %s [EAL options] -- [options]\n", program);
	fputs("  -p PORTMASK          ports that take part, in hexadecimal (all)\n"
		"  -q N                 ports per lcore, 1 to 16 (1)\n"
		"  -T SECONDS           statistics every so often, 0 for none (10)\n"
		"  --no-mac-updating    send frames as they came\n"
		"  --portmap LIST       \"(a,b)[,(c,d)]\": a's frames go to b and b's to a;\n"
		"                       (a,a) sends them back (neighbours in pairs)\n"
		"  --pool-ops NAME,...  mempool drivers, run one after the other (slab)\n"
		"  --nodes NODES        pools of slab lie over these NUMA nodes: all, or as 0+1;\n"
		"                       those of other drivers stay on one (one)\n"
		"  --cache N            buffers in each rte_mempool cache, 0 to 512 (256)\n"
		"  --mbufs N            buffers in the pool (enough for ports and caches)\n"
		"  --burst N            packets received at once, 1 to 512 (32)\n"
		"  --mode rtc|pipeline  receive and send on one lcore, or on two (rtc)\n"
		"  --duration S         end each run after S seconds\n"
		"  --packets N          end each run after N packets\n"
		"  --idle-exit MS       end each run when nothing came for so long\n"
		"  --rounds N           rounds of all drivers (3 for several, else 1)\n"
		"  --json FILE          write the results there too\n"
		"  -h, --help           print this\n", stdout);
}

static int
parse_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
			*value < min || *value > max)
		return l2fwd_error("%s '%s': give a number from %ju to %ju", what, text,
			(uintmax_t)min, (uintmax_t)max);
	return 0;
}

static int
parse_seconds(const char *what, const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*value) || *value <= 0 || *value > 1e9)
		return l2fwd_error("%s '%s': give a number of seconds above 0", what, text);
	return 0;
}

static int
parse_portmask(const char *text)
{
	char *end;

	errno = 0;
	l2fwd_opt.portmask = strtoull(text, &end, 16);
	if (!isxdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
			l2fwd_opt.portmask == 0)
		return l2fwd_error("-p '%s': give a hexadecimal mask with at least one port", text);
	return 0;
}

static int
parse_portmap(const char *text)
{
	const char *at = text;
	unsigned int a, b;
	int len;

	do {
		len = 0;
		if (sscanf(at, "(%u,%u)%n", &a, &b, &len) != 2 || len == 0 ||
				a >= RTE_MAX_ETHPORTS || b >= RTE_MAX_ETHPORTS ||
				l2fwd_opt.nb_pairs == RTE_DIM(l2fwd_opt.pairs))
			return l2fwd_error("--portmap '%s': give pairs of ports as (0,1),(2,3)",
				text);
		l2fwd_opt.pairs[l2fwd_opt.nb_pairs++] = (struct l2fwd_pair){ { a, b } };
		at += len;
	} while (*at++ == ',');
	if (at[-1] != '\0')
		return l2fwd_error("--portmap '%s': '%s' does not belong there", text, at - 1);
	return 0;
}

static int
parse_pools(char *text)
{
	char *name, *rest = text;

	l2fwd_opt.nb_pools = 0;
	while ((name = strsep(&rest, ",")) != NULL) {
		if (*name == '\0')
			return l2fwd_error("--pool-ops: an empty name");
		if (l2fwd_opt.nb_pools == RTE_DIM(l2fwd_opt.pools))
			return l2fwd_error("--pool-ops: more than %zu names",
				RTE_DIM(l2fwd_opt.pools));
		l2fwd_opt.pools[l2fwd_opt.nb_pools++] = name;
	}
	return 0;
}

static int
parse_mode(const char *text)
{
	l2fwd_opt.pipeline = strcmp(text, "pipeline") == 0;
	if (!l2fwd_opt.pipeline && strcmp(text, "rtc") != 0)
		return l2fwd_error("--mode '%s': give rtc or pipeline", text);
	return 0;
}

enum {
	OPT_NO_MAC = 256, OPT_PORTMAP, OPT_POOLS, OPT_NODES, OPT_CACHE, OPT_MBUFS, OPT_BURST,
	OPT_MODE, OPT_DURATION, OPT_PACKETS, OPT_IDLE, OPT_ROUNDS, OPT_JSON,
};

static const struct option long_options[] = {
	{ "no-mac-updating", no_argument, NULL, OPT_NO_MAC },
	{ "portmap", required_argument, NULL, OPT_PORTMAP },
	{ "pool-ops", required_argument, NULL, OPT_POOLS },
	{ "nodes", required_argument, NULL, OPT_NODES },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "mbufs", required_argument, NULL, OPT_MBUFS },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "packets", required_argument, NULL, OPT_PACKETS },
	{ "idle-exit", required_argument, NULL, OPT_IDLE },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int
parse_option(int opt, char *arg)
{
	struct l2fwd_options *o = &l2fwd_opt;

	switch (opt) {
	case 'p':
		return parse_portmask(arg);
	case 'q':
		return parse_number("-q", arg, 1, L2FWD_MAX_PORTS_PER_LCORE, &o->ports_per_lcore);
	case 'T':
		return parse_number("-T", arg, 0, 86400, &o->period);
	case OPT_NO_MAC:
		o->keep_macs = true;
		return 0;
	case OPT_PORTMAP:
		return parse_portmap(arg);
	case OPT_POOLS:
		return parse_pools(arg);
	case OPT_NODES:
		o->nodes = arg;
		return 0;
	case OPT_CACHE:
		return parse_number("--cache", arg, 0, RTE_MEMPOOL_CACHE_MAX_SIZE, &o->cache);
	case OPT_MBUFS:
		return parse_number("--mbufs", arg, 1, INT32_MAX, &o->mbufs);
	case OPT_BURST:
		return parse_number("--burst", arg, 1, L2FWD_MAX_BURST, &o->burst);
	case OPT_MODE:
		return parse_mode(arg);
	case OPT_DURATION:
		return parse_seconds("--duration", arg, &o->duration);
	case OPT_PACKETS:
		return parse_number("--packets", arg, 1, INT64_MAX, &o->packets);
	case OPT_IDLE:
		return parse_number("--idle-exit", arg, 1, 86400000, &o->idle_ms);
	case OPT_ROUNDS:
		return parse_number("--rounds", arg, 1, L2FWD_MAX_ROUNDS, &o->rounds);
	case OPT_JSON:
		o->json = arg;
		return 0;
	default:
		return -1;	/* getopt has complained */
	}
}

/* What only makes sense together. */
static int
check_options(void)
{
	const struct l2fwd_options *o = &l2fwd_opt;
	bool ends = o->duration > 0 || o->packets > 0 || o->idle_ms > 0;

	if ((o->nb_pools > 1 || o->rounds > 1) && !ends)
		return l2fwd_error("several runs need an end to each: "
			"give --idle-exit, --packets or --duration");
	if (o->mbufs != 0 && o->cache * 3 / 2 > o->mbufs)
		return l2fwd_error("--cache %ju needs a pool of at least %ju buffers: "
			"raise --mbufs %ju or lower --cache", (uintmax_t)o->cache,
			(uintmax_t)o->cache * 3 / 2, (uintmax_t)o->mbufs);
	return 0;
}

int
l2fwd_options_parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "p:q:T:h", long_options, NULL)) != -1) {
		if (opt == 'h') {
			l2fwd_usage(argv[0]);
			exit(EXIT_SUCCESS);
		}
		if (parse_option(opt, optarg) < 0)
			return -1;
	}
	if (optind < argc)
		return l2fwd_error("'%s' is no option: see --help", argv[optind]);
	if (check_options() < 0)
		return -1;
	if (l2fwd_opt.rounds == 0)
		l2fwd_opt.rounds = l2fwd_opt.nb_pools > 1 ? 3 : 1;
	return 0;
}
