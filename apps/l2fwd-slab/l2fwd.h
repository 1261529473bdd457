/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * l2fwd-slab: what its files share.
 *
 * One run forwards with one pool driver from start to end condition; a round is one run of
 * each driver. For every run the ports are set up anew on a fresh pool.
 *
 * Who writes what: a worker is one lcore. It alone writes its struct l2fwd_worker, the rx half
 * of the ports it receives from and the tx half of those it sends to. Destinations are a
 * permutation of the ports, so each port's transmit queue has one writer. The main lcore reads
 * the counters while they move: a figure may be one burst old, never torn.
 */

#ifndef L2FWD_H
#define L2FWD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "common.h"

#define L2FWD_MAX_BURST 512
#define L2FWD_MAX_PORTS_PER_LCORE 16
#define L2FWD_MAX_ROUNDS 1000
#define L2FWD_DESC 1024

/* One iteration in so many is metered. A prime, so that it does not fall in step with caches
 * that fill and empty every so many bursts. The first one early, so that short captures have one.
 */
#define L2FWD_METERED 31
#define L2FWD_METERED_FIRST 3

/* So many packets are looked at for the distinct buffers among them. */
#define L2FWD_SAMPLE 1000000

/* net_pcap writes no more of a frame that comes in a chain. */
#define L2FWD_PCAP_WRITES RTE_ETHER_MAX_JUMBO_FRAME_LEN

/* Exit codes. */
#define L2FWD_EXIT_FAILED 1	/* could not start, run or write what was asked for */
#define L2FWD_EXIT_LOST 2	/* ran, but buffers or frames are missing */

/* options.c */

struct l2fwd_pair {
	uint16_t port[2];
};

struct l2fwd_options {
	uint64_t portmask;	/* 0: all ports */
	uint64_t ports_per_lcore;
	uint64_t period;	/* seconds between statistics, 0: none */
	bool keep_macs;
	bool pipeline;
	struct l2fwd_pair pairs[RTE_MAX_ETHPORTS];
	unsigned int nb_pairs;	/* 0: neighbours are paired */
	const char *pools[RTE_MEMPOOL_MAX_OPS_IDX];
	unsigned int nb_pools;
	const char *nodes;	/* over which pools of slab lie; NULL: one */
	uint64_t cache;
	uint64_t mbufs;		/* 0: enough for ports and caches */
	uint64_t burst;
	uint64_t rounds;	/* 0: 1 for one driver, 3 for several */
	double duration;	/* seconds, 0: no limit */
	uint64_t packets;	/* 0: no limit */
	uint64_t idle_ms;	/* 0: idleness does not end a run */
	const char *json;
};

extern struct l2fwd_options l2fwd_opt;

/* Parses the application's part of the command line; -1 after an error line. */
int l2fwd_options_parse(int argc, char **argv);
void l2fwd_usage(const char *program);

/* One line on stderr, after the program's name; always returns -1. */
int l2fwd_error(const char *format, ...) __rte_format_printf(1, 2);

/* vdev.c */

/* Checks the captures that net_pcap ports are to read; -1 after an error line. */
int l2fwd_vdevs_check(int argc, char **argv);
/* Whether every network vdev of the command line is there; -1 after an error line. */
int l2fwd_vdevs_made(void);

/* portmap.c, ports.c */

struct l2fwd_port_rx {
	uint64_t received;
	uint64_t runt;		/* dropped: no room for a MAC header */
	uint64_t broken;	/* dropped: the chain holds less than the frame's length */
	uint64_t left;		/* dropped: still in the port's ring at the end */
	uint64_t oversize;	/* longer than net_pcap writes of a frame */
} __rte_cache_aligned;

struct l2fwd_port_tx {
	uint64_t sent;
	uint64_t refused;	/* dropped: the port did not take it */
} __rte_cache_aligned;

struct l2fwd_port {
	struct l2fwd_port_rx rx;
	struct l2fwd_port_tx tx;
	/* What frames sent here get as addresses, in the order of the header. */
	struct {
		struct rte_ether_addr dst, src;
	} macs;
	uint16_t id;
	bool enabled;
	bool made_promiscuous;	/* by this run */
	bool removed;		/* a vdev, taken away between runs */
	uint16_t peer;		/* where its frames go */
	char name[RTE_ETH_NAME_MAX_LEN];
	char driver[32];
	char *args;		/* how to make a vdev again, NULL for other devices */
	struct rte_eth_stats earlier;	/* the driver's own counters in runs before this one */
};

extern struct l2fwd_port l2fwd_ports[RTE_MAX_ETHPORTS];

#define L2FWD_FOREACH_PORT(p) \
	for ((p) = l2fwd_ports; (p) < l2fwd_ports + RTE_MAX_ETHPORTS; (p)++) \
		if ((p)->enabled)

/* Which ports take part and where their frames go; -1 after an error line. */
int l2fwd_ports_select(void);
bool l2fwd_port_is_ring(const struct l2fwd_port *port);
unsigned int l2fwd_ports_count(void);
int l2fwd_ports_socket(void);
/* Sets the ports up on mp and starts them; -1 after an error line, then stop them all the same. */
int l2fwd_ports_start(struct rte_mempool *mp);
/* Stops the ports and makes them give their buffers back. Vdevs are gone until the next start. */
void l2fwd_ports_stop(void);
void l2fwd_ports_close(void);
/* The driver's own counters over all runs: missed, errors and lack of buffers. */
struct rte_eth_stats l2fwd_port_counters(const struct l2fwd_port *port);

/* longframe.c */

/* Fills a chain that net_pcap left short; false when the rest cannot be had. */
bool l2fwd_longframe_complete(const struct l2fwd_port *port, struct rte_mbuf *m);
void l2fwd_longframe_reset(void);

/* audit.c */

/* Take down where the buffers of a pool are; if some are missing, say on stderr which. */
void l2fwd_audit(const struct rte_mempool *mp, bool missing);
/* What was taken down last, if a pool was slab's. */
void l2fwd_audit_report(FILE *f);

/* pool.c */

/* Which drivers to run: those asked for, or slab; -1 after an error line. */
int l2fwd_pools_select(void);
unsigned int l2fwd_pool_size(void);
struct rte_mempool *l2fwd_pool_create(const char *ops);
/* Returns how many buffers had not come back; such a pool is left alone, not freed. */
unsigned int l2fwd_pool_free(struct rte_mempool *mp);

/* meter.c */

struct l2fwd_meter_op {
	uint64_t calls, objects, cycles;	/* of metered calls that succeeded */
	uint64_t failed;			/* of all calls */
};

struct l2fwd_meter {
	bool on;
	struct l2fwd_meter_op get, put;
} __rte_cache_aligned;

/* By lcore; the last one is for threads that are none. */
extern struct l2fwd_meter l2fwd_meters[RTE_MAX_LCORE + 1];

void l2fwd_meter_calibrate(void);
/* Cycles that the meter adds to each call. */
double l2fwd_meter_cost(void);
void l2fwd_meter_attach(struct rte_mempool *mp);
void l2fwd_meter_detach(void);

/* workers.c */

struct l2fwd_worker {
	void (*loop)(struct l2fwd_worker *w);	/* NULL: nothing to do */
	uint16_t ports[L2FWD_MAX_PORTS_PER_LCORE];
	uint16_t nb_ports;
	bool main;		/* also looks after the run */
	struct rte_ring *ring;	/* pipeline: between receiver and sender */
	struct l2fwd_worker *receiver;	/* pipeline: whom a sender serves */
	struct l2fwd_meter *meter;

	uint64_t packets;	/* received, or by a sender taken from the ring */
	uint64_t first, last;	/* TSC, of iterations that moved packets */
	uint64_t iterations;	/* those that moved packets */
	uint64_t plain_packets, plain_cycles;	/* of iterations without the meter */
	uint64_t sampled, sample_max;	/* packets looked at for distinct buffers */
	uint64_t distinct;	/* buffers among them that had not been seen before */
	bool done;		/* a receiver has put its last frame into the ring */
} __rte_cache_aligned;

extern struct l2fwd_worker l2fwd_workers[RTE_MAX_LCORE];

/* Shares the ports out to lcores; -1 after an error line. */
int l2fwd_workers_assign(void);
/* Forwards until the run ends; returns when every lcore is done. */
void l2fwd_workers_run(void);

/* forward.c */

int l2fwd_forward_init(void);

/* How many packets a receiver may take next. */
static inline uint16_t
l2fwd_burst(const struct l2fwd_worker *w)
{
	uint64_t left = l2fwd_opt.packets > 0 ? l2fwd_opt.packets - w->packets : UINT16_MAX;

	return RTE_MIN(l2fwd_opt.burst, left);
}

uint16_t l2fwd_receive(struct l2fwd_worker *w, struct l2fwd_port *port,
	struct rte_mbuf **pkts, uint16_t max);
void l2fwd_send(struct l2fwd_port *port, struct rte_mbuf **pkts, uint16_t n);
/* Ends an iteration that began at start with so many packets before it. */
void l2fwd_iteration_end(struct l2fwd_worker *w, uint64_t start, uint64_t before);
void l2fwd_rtc_loop(struct l2fwd_worker *w);

/* pipeline.c */

int l2fwd_pipeline_connect(struct l2fwd_worker *rx, struct l2fwd_worker *tx, unsigned int lcore);
void l2fwd_pipeline_rx_loop(struct l2fwd_worker *w);
void l2fwd_pipeline_tx_loop(struct l2fwd_worker *w);

/* control.c */

extern bool l2fwd_stop;		/* ends the run */

static inline bool
l2fwd_stopped(void)
{
	return __atomic_load_n(&l2fwd_stop, __ATOMIC_RELAXED);
}

void l2fwd_control_init(void);
/* Whether a signal has ended everything, not just a run. */
bool l2fwd_interrupted(void);
void l2fwd_control_begin(const char *title);
/* Called by the main lcore as often as it likes: ends the run in time, prints statistics. */
void l2fwd_control(uint64_t now);

/* result.c */

enum l2fwd_figure {
	FIG_PACKETS, FIG_MPPS, FIG_CYCLES, FIG_GET, FIG_PUT, FIG_GET_RAW, FIG_PUT_RAW,
	FIG_GET_BULK, FIG_PUT_BULK, FIG_FAILED, FIG_DISTINCT, FIG_SAMPLED,
	FIG_CYCLES_RATIO, FIG_POOL_RATIO, FIG_NB,
};

/* NAN: not measured. */
struct l2fwd_result {
	double fig[FIG_NB];
};

/* What the workers and meters counted in the run that has just ended. */
void l2fwd_result_collect(struct l2fwd_result *r, const struct l2fwd_result *first);

/* run.c */

struct l2fwd_outcome {
	struct l2fwd_result results[RTE_MEMPOOL_MAX_OPS_IDX][L2FWD_MAX_ROUNDS];
	unsigned int nb_results[RTE_MEMPOOL_MAX_OPS_IDX];
	uint64_t missing;	/* buffers that did not come back */
	bool failed;		/* a run could not be started */
};

void l2fwd_rounds(struct l2fwd_outcome *out);
/* The median over rounds of one figure of one driver. */
double l2fwd_outcome_median(const struct l2fwd_outcome *out, unsigned int pool,
	enum l2fwd_figure f);

/* report.c, json.c */

extern const char *const l2fwd_figure_names[FIG_NB];

uint64_t l2fwd_port_dropped(const struct l2fwd_port *port);
/* Received frames that were neither sent nor counted as dropped: none, or a bug. */
int64_t l2fwd_unaccounted(void);
void l2fwd_ports_report(FILE *f);
void l2fwd_report(const struct l2fwd_outcome *out);
int l2fwd_json_open(void);
int l2fwd_json_write(const struct l2fwd_outcome *out);

#endif /* L2FWD_H */
