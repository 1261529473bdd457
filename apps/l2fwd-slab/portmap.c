/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which ports take part, where the frames of each go, and what it takes to make them again.
 */

#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_string_fns.h>

#include "l2fwd.h"

static int
enable_ports(void)
{
	uint64_t present = 0;
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id)
		present |= UINT64_C(1) << id;
	if (present == 0)
		return l2fwd_error("no Ethernet ports: give one, e.g. "
			"--vdev net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap, or bind a NIC to a "
			"driver that DPDK can use");
	if ((l2fwd_opt.portmask & ~present) != 0)
		return l2fwd_error("-p 0x%jx names ports that are not there: the ports are 0x%jx",
			(uintmax_t)l2fwd_opt.portmask, (uintmax_t)present);
	if (l2fwd_opt.portmask == 0)
		l2fwd_opt.portmask = present;
	for (id = 0; id < RTE_MAX_ETHPORTS; id++) {
		l2fwd_ports[id].id = id;
		l2fwd_ports[id].enabled = (l2fwd_opt.portmask >> id) & 1;
	}
	return 0;
}

/* As l2fwd pairs them: each with its neighbour, an odd last one with itself. */
static void
pair_neighbours(void)
{
	struct l2fwd_port *p, *open = NULL;

	L2FWD_FOREACH_PORT(p) {
		p->peer = p->id;
		if (open == NULL) {
			open = p;
			continue;
		}
		p->peer = open->id;
		open->peer = p->id;
		open = NULL;
	}
}

static int
pair_by_map(void)
{
	uint64_t used = 0;

	for (unsigned int i = 0; i < l2fwd_opt.nb_pairs; i++) {
		const uint16_t *pair = l2fwd_opt.pairs[i].port;
		uint64_t mask = UINT64_C(1) << pair[0] | UINT64_C(1) << pair[1];

		if ((mask & ~l2fwd_opt.portmask) != 0)
			return l2fwd_error("--portmap (%u,%u): the ports that take part are 0x%jx",
				pair[0], pair[1], (uintmax_t)l2fwd_opt.portmask);
		if ((mask & used) != 0)
			return l2fwd_error("--portmap (%u,%u): a port is already in another pair",
				pair[0], pair[1]);
		used |= mask;
		l2fwd_ports[pair[0]].peer = pair[1];
		l2fwd_ports[pair[1]].peer = pair[0];
	}
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		l2fwd_ports[id].enabled = (used >> id) & 1;
	return 0;
}

/* Vdevs are made anew for each run: what it takes to make them must outlive them. A net_ring
 * does not go without leaving rings behind that are in its own way afterwards.
 */
static int
remember_device(struct l2fwd_port *p)
{
	struct rte_eth_dev_info info;
	const struct rte_devargs *args;

	if (rte_eth_dev_info_get(p->id, &info) != 0)
		return l2fwd_error("port %u does not say what it is", p->id);
	rte_eth_dev_get_name_by_port(p->id, p->name);
	strlcpy(p->driver, info.driver_name, sizeof(p->driver));
	args = rte_dev_devargs(info.device);
	if (strcmp(rte_bus_name(rte_dev_bus(info.device)), "vdev") == 0 &&
			!l2fwd_port_is_ring(p))
		p->args = strdup(args != NULL && args->args != NULL ? args->args : "");
	return 0;
}

int
l2fwd_ports_select(void)
{
	struct l2fwd_port *p;

	if (enable_ports() < 0)
		return -1;
	if (l2fwd_opt.nb_pairs == 0)
		pair_neighbours();
	else if (pair_by_map() < 0)
		return -1;
	L2FWD_FOREACH_PORT(p)
		if (remember_device(p) < 0)
			return -1;
	return 0;
}
