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
#include "step.h"
#include "stop.h"

#define WORKERS 2
#define LARGEST 70
#define MOST_HELD (2 * LARGEST)
#define SECONDS 60 /* that one step may take */
#define MOST_PLACES 100

struct worker {
	const struct stop *stop;
	pthread_t thread;
	uint32_t number, ops, held;
	_Atomic(uint32_t) done, failed;
	uint64_t seed;
	void *objs[MOST_HELD];
};

/* Where loops have been stopped after a load. */
struct place {
	const char *file;
	int line;
};

static struct stop now;
static struct stopper stopper;
static struct worker workers[WORKERS];
static struct place places[MOST_PLACES];
static _Atomic(uint8_t) holder[STOP_MOST]; /* of each object: who, or 0 */
static uint32_t nr_places, ops, ops_again;
static int cpus[2];

static void
stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	MUST(pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0);
}

/* Both are the same where there is only one. */
static void
choose_cpus(void)
{
	cpu_set_t set;
	int cpu, n = 0;

	MUST(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	cpus[1] = n < 2 ? cpus[0] : cpus[1];
}

static void
add_objects(struct slab_pool *pool, const struct operation *op, uint32_t n)
{
	uint32_t nodes = op->nodes == 0 ? 1 : op->nodes, i;
	struct slab_range range;

	for (i = 0; i < nodes; i++) {
		range = (struct slab_range){ .base = MADE_UP + (size_t)i * n / nodes * 64,
			.count = n / nodes, .node = i };
		MUST(slab_pool_add(pool, &range) == range.count);
	}
}

static uint32_t
objects(const struct operation *op)
{
	return op->objects == 0 ? 1024 : op->objects;
}

static struct slab_pool *
make_pool(const struct operation *op)
{
	static const uint8_t lcore_node[] = { 0, 1, 0, 1 };
	struct slab_conf conf = plain_conf(objects(op) + op->later);
	struct slab_pool *pool;

	conf.magazine = op->magazine == 0 ? 64 : op->magazine;
	conf.depot = op->no_depot ? 0 : objects(op) / conf.magazine;
	conf.lcore_partial = op->lcore_partial;
	conf.nodes = op->nodes;
	conf.lcore_node = lcore_node;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.thread_cache = op->thread_cache;
	conf.stats = op->stats;
	pool = pool_make(&conf);
	add_objects(pool, op, objects(op));
	return pool;
}

/* The thread that stops. */
static void *
victim(void *arg)
{
	struct stop *s = arg;

	stay_on(cpus[0]);
	s->op->prepare(s);
	step_begin(&stopper);
	s->op->run(s);
	step_end(&stopper);
	return NULL;
}

/*
 * A load and a store: if two threads mark an object that both hold, one of them finds the other's
 * mark, now or when it puts it.
 */
static void
mark_as(void *const *objs, uint32_t n, uint8_t from, uint8_t to)
{
	uint32_t i;
	size_t k;

	for (i = 0; i < n; i++) {
		k = (size_t)((char *)objs[i] - MADE_UP) / 64;
		MUST(k < STOP_MOST && (char *)objs[i] == MADE_UP + k * 64);
		MUST(atomic_load_explicit(&holder[k], memory_order_relaxed) == from);
		atomic_store_explicit(&holder[k], to, memory_order_relaxed);
	}
}

static void
get(struct worker *w, uint32_t lcore, uint32_t n)
{
	if (slab_get(w->stop->pool, lcore, w->objs + w->held, n) != 0) {
		w->failed++;
		return;
	}
	mark_as(w->objs + w->held, n, MARK_FREE, (uint8_t)(w->number + 1));
	w->held += n;
}

static void
put(struct worker *w, uint32_t lcore, uint32_t n)
{
	w->held -= n;
	mark_as(w->objs + w->held, n, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(w->stop->pool, lcore, w->objs + w->held, n);
}

static void
get_block(struct worker *w, uint32_t lcore)
{
	struct slab_pool *pool = w->stop->pool;
	void *objs[SLAB_OBJECTS];
	uint32_t i;

	if (slab_get_blocks(pool, lcore, objs, 1) != 0)
		return;
	for (i = 1; i < SLAB_OBJECTS; i++)
		objs[i] = (char *)objs[0] + (size_t)i * 64;
	mark_as(objs, SLAB_OBJECTS, MARK_FREE, (uint8_t)(w->number + 1));
	mark_as(objs, SLAB_OBJECTS, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(pool, lcore, objs, SLAB_OBJECTS);
}

static void
limit_depot(struct slab_pool *pool, bool none)
{
	uint32_t most = slab_pool_tunable_most(pool, SLAB_TUNABLE_DEPOT);

	MUST(slab_pool_tune(pool, SLAB_TUNABLE_DEPOT, none ? 0 : most) == 0);
}

/* The limit of the depot goes up and down, so that objects are on their way to slabs as well. */
static void
look_or_tune(struct worker *w, uint32_t lcore)
{
	struct slab_pool *pool = w->stop->pool;
	struct slab_stats stats;

	switch (draw(&w->seed, 4)) {
	case 0:
		get_block(w, lcore);
		break;
	case 1:
		limit_depot(pool, draw(&w->seed, 2));
		break;
	case 2:
		MUST(slab_pool_count(pool) <= slab_pool_added(pool));
		break;
	default:
		slab_pool_stats(pool, lcore, &stats);
	}
}

/* As the lcore, or as a thread that is none. */
static void
get_or_put(struct worker *w)
{
	uint32_t lcore = draw(&w->seed, 4) == 0 ? SLAB_NO_LCORE : WORKER + w->number;
	uint32_t n = draw_size(&w->seed, LARGEST);

	if (draw(&w->seed, 1000) == 0)
		look_or_tune(w, lcore);
	if (w->held < n || (w->held + n <= MOST_HELD && draw(&w->seed, 2) == 0))
		get(w, lcore, n);
	else
		put(w, lcore, n);
}

/* Gets fail while one that is preempted has too much in its hands, but that is not for good. */
static void
work(struct worker *w)
{
	for (w->done = 0; w->done < w->ops; w->done++)
		get_or_put(w);
	put(w, WORKER + w->number, w->held);
	MUST(w->failed < w->ops);
}

static void *
work_there(void *arg)
{
	struct worker *w = arg;

	stay_on(cpus[w->number]);
	work(w);
	return NULL;
}

static void
work_at_once(void)
{
	uint32_t i;

	for (i = 0; i < WORKERS; i++)
		MUST(pthread_create(&workers[i].thread, NULL, work_there, &workers[i]) == 0);
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* Whether a loop comes by after a load. */
static bool
comes_again(void)
{
	uint32_t i;

	if (stopper.after_write)
		return false;
	for (i = 0; i < nr_places; i++)
		if (places[i].line == stopper.line && places[i].file == stopper.file)
			return true;
	MUST(nr_places < MOST_PLACES);
	places[nr_places++] = (struct place){ stopper.file, stopper.line };
	return false;
}

/* The others, while the thread has been stopped: both, or one who has little to do. */
static void
go_on(const struct stop *s, uint32_t step, bool again)
{
	uint32_t n = again ? ops_again : ops / WORKERS, i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = (struct worker){ .stop = s, .number = i, .ops = n,
			.seed = step * WORKERS + i };
	if (again)
		work(&workers[step % WORKERS]);
	else
		work_at_once();
}

/* All that can be had, one by one, each once; and back, as much as possible to the depot. */
static uint32_t
look_for_all(const struct stop *s, uint32_t lcore)
{
	static void *objs[STOP_MOST + 1];
	uint32_t n = 0;

	while (slab_get(s->pool, lcore, objs + n, 1) == 0)
		MUST(++n <= STOP_MOST);
	mark_as(objs, n, MARK_FREE, MARK_BOX);
	mark_as(objs, n, MARK_BOX, MARK_FREE);
	slab_put(s->pool, lcore, objs, n);
	return n;
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
	bool again = comes_again();

	if (!again)
		before = look_for_all(s, LOOKER);
	go_on(s, step, again);
	limit_depot(s->pool, false);
	after = look_for_all(s, step % 2 == 0 ? LOOKER : SLAB_NO_LCORE);
	return all - (before < after ? before : after);
}

static void
begin(const struct operation *op, uint32_t step, pthread_t *thread)
{
	snprintf(crew_at, sizeof(crew_at), "%s, step %u", op->name, step);
	alarm(SECONDS);
	now = (struct stop){ .op = op, .pool = make_pool(op),
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
	MUST(n == objects(s->op) + s->op->later);
	MUST(slab_pool_count(s->pool) == n);
	MUST(look_for_all(s, LOOKER) == n);
	MUST(slab_pool_faults(s->pool) == 0);
	pool_free(s->pool);
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

	nr_places = 0;
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
	choose_cpus();
	for (i = 0; i < nr_stop_operations; i++)
		if (is_wanted(&stop_operations[i]))
			steps += stop_everywhere(&stop_operations[i]);
	printf("%u steps; %u gets and puts by the others during each, %u after loads in loops\n",
		steps, ops, ops_again);
	return steps == 0;
}
