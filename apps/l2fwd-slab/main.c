/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * l2fwd-slab: forwards frames between ports as DPDK's l2fwd does, on pools of one mempool
 * driver after another, and says what a packet buffer costs with each.
 */

#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "l2fwd.h"

/* Mistakes on the command line and in captures show before EAL takes any memory. */
static int
check_arguments(int argc, char **argv, int eal_argc)
{
	static char program[] = "l2fwd-slab";

	if (eal_argc < argc) {
		argv[eal_argc] = program;
		if (l2fwd_options_parse(argc - eal_argc, argv + eal_argc) < 0)
			return -1;
	}
	return l2fwd_vdevs_check(eal_argc, argv);
}

static int
prepare(void)
{
	if (l2fwd_vdevs_made() < 0 || l2fwd_ports_select() < 0 || l2fwd_pools_select() < 0 ||
			l2fwd_workers_assign() < 0 || l2fwd_forward_init() < 0)
		return -1;
	l2fwd_meter_calibrate();
	l2fwd_control_init();
	return l2fwd_json_open();
}

static int
run(void)
{
	static struct l2fwd_outcome out;
	int written;

	l2fwd_rounds(&out);
	if (out.nb_results[0] > 0)
		l2fwd_report(&out);
	written = l2fwd_json_write(&out);
	if (out.failed || written < 0)
		return L2FWD_EXIT_FAILED;
	return out.missing > 0 || l2fwd_unaccounted() != 0 ? L2FWD_EXIT_LOST : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	int eal_argc = apps_eal_args(argc, argv), status = L2FWD_EXIT_FAILED;

	if (check_arguments(argc, argv, eal_argc) < 0)
		return L2FWD_EXIT_FAILED;
	rte_set_application_usage_hook(l2fwd_usage);
	if (rte_eal_init(eal_argc, argv) < 0) {
		l2fwd_error("EAL did not start: %s; the lines above say why",
			rte_strerror(rte_errno));
		return L2FWD_EXIT_FAILED;
	}
	if (prepare() == 0)
		status = run();
	l2fwd_ports_close();
	rte_eal_cleanup();
	return status;
}
