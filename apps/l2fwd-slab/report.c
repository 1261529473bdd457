/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <rte_lcore.h>

#include "l2fwd.h"

const char *const l2fwd_figure_names[FIG_NB] = {
	[FIG_PACKETS] = "packets",
	[FIG_MPPS] = "mpps",
	[FIG_CYCLES] = "cycles_per_packet",
	[FIG_GET] = "get_cycles_per_buffer",
	[FIG_PUT] = "put_cycles_per_buffer",
	[FIG_GET_RAW] = "get_cycles_per_buffer_with_meter",
	[FIG_PUT_RAW] = "put_cycles_per_buffer_with_meter",
	[FIG_GET_BULK] = "get_buffers_per_call",
	[FIG_PUT_BULK] = "put_buffers_per_call",
	[FIG_FAILED] = "failed_gets",
	[FIG_DISTINCT] = "distinct_buffers",
	[FIG_SAMPLED] = "distinct_buffers_over_packets",
	[FIG_CYCLES_RATIO] = "cycles_per_packet_ratio",
	[FIG_POOL_RATIO] = "get_put_cycles_ratio",
};

static const struct {
	enum l2fwd_figure fig;
	const char *head[2];
	int width, decimals;
} columns[] = {
	{ FIG_PACKETS, { "", "packets" }, 12, 0 },
	{ FIG_MPPS, { "", "Mpps" }, 8, 2 },
	{ FIG_CYCLES, { "cycles/", "packet" }, 9, 1 },
	{ FIG_GET, { "get:cyc", "/buffer" }, 9, 2 },
	{ FIG_PUT, { "put:cyc", "/buffer" }, 9, 2 },
	{ FIG_GET_BULK, { "get:buf", "/call" }, 9, 1 },
	{ FIG_PUT_BULK, { "put:buf", "/call" }, 9, 1 },
	{ FIG_FAILED, { "failed", "gets" }, 8, 0 },
	{ FIG_DISTINCT, { "distinct", "buffers" }, 10, 0 },
	{ FIG_CYCLES_RATIO, { "ratio:", "packet" }, 8, 2 },
	{ FIG_POOL_RATIO, { "ratio:", "get+put" }, 9, 2 },
};

uint64_t
l2fwd_port_dropped(const struct l2fwd_port *port)
{
	return port->rx.runt + port->rx.broken + port->rx.left + port->tx.refused;
}

int64_t
l2fwd_unaccounted(void)
{
	const struct l2fwd_port *p;
	int64_t sum = 0;

	L2FWD_FOREACH_PORT(p)
		sum += p->rx.received - p->tx.sent - l2fwd_port_dropped(p);
	return sum;
}

static void
report_drops(FILE *f, const struct l2fwd_port *p)
{
	const struct {
		uint64_t frames;
		const char *reason;
	} drops[] = {
		{ p->rx.runt, "received without a whole MAC header to rewrite" },
		{ p->rx.broken, "received shorter than their length says" },
		{ p->rx.left, "still in the port's ring at the end" },
		{ p->tx.refused, "refused by the port" },
	};

	for (unsigned int i = 0; i < RTE_DIM(drops); i++)
		if (drops[i].frames > 0)
			fprintf(f, "port %u: %"PRIu64" dropped: %s\n", p->id, drops[i].frames,
				drops[i].reason);
}

/* The port does not say so itself: it counts what it cut as sent. */
static void
report_cut_frames(FILE *f, const struct l2fwd_port *p)
{
	const struct l2fwd_port *out = &l2fwd_ports[p->peer];

	if (p->rx.oversize == 0 || strcmp(out->driver, "net_pcap") != 0)
		return;
	if (out->args != NULL && strstr(out->args, "tx_pcap=") != NULL)
		fprintf(f, "port %u (net_pcap): wrote only the first %u bytes of %"PRIu64
			" longer frame%s: the port's limit\n", out->id, L2FWD_PCAP_WRITES,
			p->rx.oversize, p->rx.oversize == 1 ? "" : "s");
}

static void
report_port(FILE *f, const struct l2fwd_port *p)
{
	struct rte_eth_stats by_driver = l2fwd_port_counters(p);

	fprintf(f, "%4u  %-14s %13"PRIu64" %13"PRIu64" %9"PRIu64" %11"PRIu64" %9"PRIu64" %9"PRIu64
		" %10"PRIu64"\n", p->id, p->name, p->rx.received, p->tx.sent,
		l2fwd_port_dropped(p), by_driver.imissed, by_driver.ierrors, by_driver.oerrors,
		by_driver.rx_nombuf);
}

void
l2fwd_ports_report(FILE *f)
{
	const struct l2fwd_port *p;

	fprintf(f, "%57s  by the driver:\n", "");
	fprintf(f, "port  %-14s %13s %13s %9s %11s %9s %9s %10s\n", "device", "received", "sent",
		"dropped", "missed", "rx error", "tx error", "no buffer");
	L2FWD_FOREACH_PORT(p)
		report_port(f, p);
	L2FWD_FOREACH_PORT(p) {
		report_drops(f, p);
		report_cut_frames(f, p);
	}
}

static void
print_figure(double value, int width, int decimals)
{
	if (isnan(value))
		printf("%*s", width, "-");
	else
		printf("%*.*f", width, decimals, value);
}

static void
print_table(const struct l2fwd_outcome *out)
{
	for (unsigned int line = 0; line < 2; line++) {
		printf("%-16s", line == 0 ? "" : "driver");
		for (unsigned int c = 0; c < RTE_DIM(columns); c++)
			printf("%*s", columns[c].width, columns[c].head[line]);
		putchar('\n');
	}
	for (unsigned int i = 0; i < l2fwd_opt.nb_pools; i++) {
		printf("%-16s", l2fwd_opt.pools[i]);
		for (unsigned int c = 0; c < RTE_DIM(columns); c++)
			print_figure(l2fwd_outcome_median(out, i, columns[c].fig),
				columns[c].width, columns[c].decimals);
		putchar('\n');
	}
}

/* The meter's own part is stated, so that nobody has to take it on trust. */
static void
print_meter(const struct l2fwd_outcome *out)
{
	printf("get, put: cycles in the driver's own functions, in one iteration of %u, less the "
		"meter's own %.1f a call.\n  With the meter's:", L2FWD_METERED,
		l2fwd_meter_cost());
	for (unsigned int i = 0; i < l2fwd_opt.nb_pools; i++) {
		printf("%s %s", i > 0 ? "," : "", l2fwd_opt.pools[i]);
		print_figure(l2fwd_outcome_median(out, i, FIG_GET_RAW), 7, 2);
		print_figure(l2fwd_outcome_median(out, i, FIG_PUT_RAW), 7, 2);
	}
	printf("\n  With '-' no such iteration called it: too few packets, or the rte_mempool "
		"cache served all.\n");
}

static void
print_notes(const struct l2fwd_outcome *out)
{
	printf("cycles/packet: all that lcores did in the other iterations that moved packets; "
		"idle polls do not count.\n");
	print_meter(out);
	printf("distinct buffers: used by the first %.0f packets.\n",
		l2fwd_outcome_median(out, 0, FIG_SAMPLED));
	if (l2fwd_opt.nodes != NULL)
		printf("Nodes: %s for pools of slab; those of other drivers lie on one.\n",
			l2fwd_opt.nodes);
	if (l2fwd_opt.rounds > 1)
		printf("Rounds: %u; all figures are medians over them.\n", out->nb_results[0]);
	if (l2fwd_opt.nb_pools > 1)
		printf("Ratios are against %s, within each round.\n", l2fwd_opt.pools[0]);
}

void
l2fwd_report(const struct l2fwd_outcome *out)
{
	printf("\nMode %s, %u lcore%s, %u buffers, cache %ju, bursts of %ju\n\n",
		l2fwd_opt.pipeline ? "pipeline" : "rtc", rte_lcore_count(),
		rte_lcore_count() == 1 ? "" : "s", l2fwd_pool_size(), (uintmax_t)l2fwd_opt.cache,
		(uintmax_t)l2fwd_opt.burst);
	print_table(out);
	putchar('\n');
	print_notes(out);
	putchar('\n');
	l2fwd_ports_report(stdout);
	if (l2fwd_unaccounted() != 0)
		printf("%"PRId64" frames are neither sent nor dropped\n", l2fwd_unaccounted());
	l2fwd_audit_report(stdout);
	if (out->missing > 0)
		printf("%"PRIu64" buffers did not come back\n", out->missing);
	fflush(stdout);
}
