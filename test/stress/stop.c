/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Nobody waits for anybody: a thread is stopped before each step of each operation, one after the
 * other, and the others go on. What they cannot have meanwhile is counted. Then the thread goes on
 * as well, and all objects are there.
 *
 * A step is an atomic access of the library. STOP_OPS is how many gets and puts the others do.
 * After a mere load they find all as they found it before that, so where a loop comes to such a
 * step again they do a hundredth, or STOP_AGAIN. To repeat one operation, or one step of it:
 * STOP_ONLY="its name" STOP_FROM=step.
 */

#include <signal.h>
#include <unistd.h>

#include "slab_lcore.h"
#include "slab_process.h"
#include "stop_others.h"

#define SECONDS 60 /* that one step may take */

static struct stop now;
static struct stopper stopper;
static uint32_t ops, ops_again;

/* The thread that stops. */
static void *
victim(void *arg)
{
	struct stop *s = arg;

	others_stay_on(0);
	s->op->prepare(s);
	step_begin(&stopper);
	s->op->run(s);
	step_end(&stopper);
	return NULL;
}

/*
 * How many objects the others cannot have, at once and after they have worked for a while. At the
 * end all magazines are full again, in another order: so whatever the thread remembers of one has
 * changed.
 */
static uint32_t
lost(const struct stop *s, uint32_t step)
{
	uint32_t all = slab_pool_added(s->pool), before = all, after;
	bool again = others_come_again(&stopper);

	if (!again)
		before = others_look_for_all(s, LOOKER);
	others_work(s, step, again ? ops_again : ops, again);
	others_limit_depot(s->pool, false);
	after = others_look_for_all(s, step % 2 == 0 ? LOOKER : SLAB_NO_LCORE);
	return all - (before < after ? before : after);
}

static void
begin(const struct operation *op, uint32_t step, pthread_t *thread)
{
	snprintf(crew_at, sizeof(crew_at), "%s, step %u", op->name, step);
	alarm(SECONDS);
	now = (struct stop){ .op = op, .pool = others_make_pool(op),
		.lcore = op->none ? SLAB_NO_LCORE : VICTIM };
	step_init(&stopper, step);
	MUST(pthread_create(thread, NULL, victim, &now) == 0);
	now.stopped = step_wait(&stopper);
	slab_put(now.pool, LOOKER, now.kept, now.nr_kept);
}

static void
end(const struct stop *s, pthread_t thread)
{
	uint32_t n;

	pthread_join(thread, NULL);
	slab_put(s->pool, LOOKER, s->objs, s->n);
	if (s->claimed != NULL)
		slab_store_release(&s->claimed->shut, s->claimed_was);
	if (s->busy != NULL)
		slab_store_release(&s->busy->busy, 0);
	n = slab_pool_added(s->pool);
	MUST(n == others_objects(s->op) + s->op->later);
	MUST(slab_pool_count(s->pool) == n);
	MUST(others_look_for_all(s, LOOKER) == n);
	MUST(slab_pool_faults(s->pool) == 0);
	others_free_pool(s->pool);
}

static void
say_where(uint32_t step)
{
	snprintf(crew_at, sizeof(crew_at), "%s, stopped in step %u: %s, %s, %s:%d", now.op->name,
		step, stopper.function, stopper.what, stopper.file, stopper.line);
}

/* False if the operation has ended before this step. */
static bool
stop_at(const struct operation *op, uint32_t step, uint32_t *most)
{
	pthread_t thread;
	uint32_t missing;

	begin(op, step, &thread);
	if (now.stopped) {
		say_where(step);
		missing = lost(&now, step);
		MUST(missing <= op->bound);
		*most = missing > *most ? missing : *most;
		step_go(&stopper);
	}
	end(&now, thread);
	return now.stopped;
}

static uint32_t
stop_everywhere(const struct operation *op)
{
	uint32_t from = crew_setting("STOP_FROM", 0), steps, most = 0;

	others_begin();
	for (steps = from; stop_at(op, steps, &most); steps++)
		;
	MUST(steps > from);
	printf("%-42s%6u steps, %3u out of reach, at most %3u\n", op->name, steps, most,
		op->bound);
	fflush(stdout);
	return steps;
}

static void
hung(int sig)
{
	char text[300];
	int n = snprintf(text, sizeof(text), "somebody waits: %s; the others did %u and %u\n",
		crew_at, workers[0].done, workers[1].done);

	(void)sig;
	_exit(write(STDERR_FILENO, text, (size_t)n) == n ? 1 : 2);
}

/* A process without sequences has locks in their place, which are stopped as such. */
static bool
is_wanted(const struct operation *op)
{
	const char *only = getenv("STOP_ONLY");
	bool sequences = op->none && op->thread_cache == SLAB_THREADS_RSEQ;

	return (only == NULL || strcmp(only, op->name) == 0) &&
		!(sequences && slab_process.key == SLAB_NO_KEY);
}

int
main(void)
{
	uint32_t steps = 0, i;

	if (!slab_lcore_cache_possible()) {
		puts("skipped: this kernel lacks membarrier(2): lcores have no caches");
		return 77;
	}
	ops = crew_setting("STOP_OPS", 100000);
	ops_again = crew_setting("STOP_AGAIN", ops / 100);
	if (slab_process.key == SLAB_NO_KEY)
		puts("no restartable sequences in this process: operations by them are left out");
	signal(SIGALRM, hung);
	others_choose_cpus();
	for (i = 0; i < nr_stop_operations; i++)
		if (is_wanted(&stop_operations[i]))
			steps += stop_everywhere(&stop_operations[i]);
	printf("%u steps; %u gets and puts by the others during each, %u after loads in loops\n",
		steps, ops, ops_again);
	return steps == 0;
}
