/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "l2fwd.h"

static FILE *json_file;

/* Before anything runs: who waited for hours wants the file. */
int
l2fwd_json_open(void)
{
	if (l2fwd_opt.json == NULL)
		return 0;
	json_file = fopen(l2fwd_opt.json, "w");
	if (json_file == NULL)
		return l2fwd_error("--json %s cannot be written: %s", l2fwd_opt.json,
			strerror(errno));
	return 0;
}

static json_t *
number(double value)
{
	if (isnan(value))
		return json_null();
	return value == rint(value) ? json_integer(value) : json_real(value);
}

static json_t *
figures(const double *fig)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < FIG_NB; i++)
		json_object_set_new(object, l2fwd_figure_names[i], number(fig[i]));
	return object;
}

static json_t *
drivers(const struct l2fwd_outcome *out)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < l2fwd_opt.nb_pools; i++) {
		json_t *rounds = json_array(), *driver;
		double medians[FIG_NB];

		for (unsigned int f = 0; f < FIG_NB; f++)
			medians[f] = l2fwd_outcome_median(out, i, f);
		for (unsigned int r = 0; r < out->nb_results[i]; r++)
			json_array_append_new(rounds, figures(out->results[i][r].fig));
		driver = json_pack("{s:s}", "driver", l2fwd_opt.pools[i]);
		json_object_update_new(driver, figures(medians));
		json_object_set_new(driver, "rounds", rounds);
		json_array_append_new(list, driver);
	}
	return list;
}

static json_t *
port_counters(const struct l2fwd_port *p)
{
	struct rte_eth_stats by_driver = l2fwd_port_counters(p);

	return json_pack("{s:i, s:s, s:s, s:i, s:I, s:I, s:{s:I, s:I, s:I, s:I},"
		" s:{s:I, s:I, s:I, s:I}, s:I}",
		"port", p->id, "device", p->name, "driver", p->driver, "to", p->peer,
		"received", (json_int_t)p->rx.received, "sent", (json_int_t)p->tx.sent,
		"dropped", "runt", (json_int_t)p->rx.runt, "broken", (json_int_t)p->rx.broken,
		"left", (json_int_t)p->rx.left, "tx_refused", (json_int_t)p->tx.refused,
		"by_the_driver", "rx_missed", (json_int_t)by_driver.imissed,
		"rx_errors", (json_int_t)by_driver.ierrors,
		"tx_errors", (json_int_t)by_driver.oerrors,
		"rx_no_buffer", (json_int_t)by_driver.rx_nombuf,
		"received_oversize", (json_int_t)p->rx.oversize);
}

static json_t *
ports(void)
{
	json_t *list = json_array();
	const struct l2fwd_port *p;

	L2FWD_FOREACH_PORT(p)
		json_array_append_new(list, port_counters(p));
	return list;
}

static json_t *
options(void)
{
	const struct l2fwd_options *o = &l2fwd_opt;

	return json_pack("{s:s, s:i, s:s?, s:I, s:I, s:I, s:I, s:b, s:f, s:I, s:I}",
		"mode", o->pipeline ? "pipeline" : "rtc", "lcores", rte_lcore_count(),
		"nodes", o->nodes, "mbufs", (json_int_t)l2fwd_pool_size(), "cache", (json_int_t)o->cache,
		"burst", (json_int_t)o->burst, "rounds", (json_int_t)o->rounds,
		"mac_updating", !o->keep_macs, "duration_s", o->duration,
		"packets", (json_int_t)o->packets, "idle_exit_ms", (json_int_t)o->idle_ms);
}

int
l2fwd_json_write(const struct l2fwd_outcome *out)
{
	json_t *root;
	int ret;

	if (json_file == NULL)
		return 0;
	root = json_pack("{s:{s:s, s:I}, s:o, s:{s:f, s:i}, s:o, s:o, s:I, s:I, s:b}",
		"machine", "dpdk", rte_version(), "tsc_hz", (json_int_t)rte_get_tsc_hz(),
		"options", options(),
		"meter", "cycles_per_call", l2fwd_meter_cost(), "one_iteration_in", L2FWD_METERED,
		"drivers", drivers(out), "ports", ports(),
		"missing_buffers", (json_int_t)out->missing,
		"unaccounted_frames", (json_int_t)l2fwd_unaccounted(),
		"interrupted", l2fwd_interrupted());
	ret = json_dumpf(root, json_file, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(root);
	if (fclose(json_file) != 0 || ret < 0)
		return l2fwd_error("--json %s could not be written", l2fwd_opt.json);
	return 0;
}
