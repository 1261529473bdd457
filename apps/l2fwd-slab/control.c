/* SPDX-License-Identifier: BSD-3-Clause */

#include <signal.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "l2fwd.h"

bool l2fwd_stop;

static bool interrupted;

static struct {
	const char *title;
	uint64_t begin, next_check, next_stats;	/* TSC */
	uint64_t before;	/* packets received in earlier runs */
} control;

static void
on_signal(int signum __rte_unused)
{
	__atomic_store_n(&interrupted, true, __ATOMIC_RELAXED);
	__atomic_store_n(&l2fwd_stop, true, __ATOMIC_RELAXED);
}

void
l2fwd_control_init(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool
l2fwd_interrupted(void)
{
	return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

static uint64_t
total_received(void)
{
	const struct l2fwd_port *p;
	uint64_t sum = 0;

	L2FWD_FOREACH_PORT(p)
		sum += p->rx.received;
	return sum;
}

void
l2fwd_control_begin(const char *title)
{
	control.title = title;
	control.before = total_received();
	control.begin = control.next_check = rte_rdtsc();
	control.next_stats = control.begin + l2fwd_opt.period * rte_get_tsc_hz();
	l2fwd_stop = false;
	/* A signal that came before the line above must not be lost. */
	if (l2fwd_interrupted())
		l2fwd_stop = true;
}

static uint64_t
last_packet(void)
{
	uint64_t last = control.begin;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore)
		last = RTE_MAX(last, l2fwd_workers[lcore].last);
	return last;
}

static bool
is_over(uint64_t now)
{
	const struct l2fwd_options *o = &l2fwd_opt;
	double hz = rte_get_tsc_hz();
	uint64_t last;

	if (o->packets > 0 && total_received() - control.before >= o->packets)
		return true;
	if (o->duration > 0 && now - control.begin >= o->duration * hz)
		return true;
	if (o->idle_ms == 0)
		return false;
	last = last_packet();	/* another lcore's may be later than now */
	return now > last && now - last >= o->idle_ms * hz / 1000;
}

static void
print_statistics(uint64_t now)
{
	/* A terminal shows the latest, a file keeps them all. */
	if (isatty(STDOUT_FILENO))
		fputs("\033[2J\033[1;1H", stdout);
	printf("\n%s, after %.0f s\n", control.title,
		(double)(now - control.begin) / rte_get_tsc_hz());
	l2fwd_ports_report(stdout);
	fflush(stdout);
}

void
l2fwd_control(uint64_t now)
{
	if (now < control.next_check)
		return;
	control.next_check = now + rte_get_tsc_hz() / 20000;
	if (is_over(now))
		__atomic_store_n(&l2fwd_stop, true, __ATOMIC_RELAXED);
	if (l2fwd_opt.period > 0 && now >= control.next_stats) {
		control.next_stats = now + l2fwd_opt.period * rte_get_tsc_hz();
		print_statistics(now);
	}
}
