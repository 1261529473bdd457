/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A process is killed before each step of each operation, one after the other, as by kill -9. Others
 * go on with its pool: one has the lcore that it had, as a process that was started anew. No object is
 * ever handed out twice, and slab_pool_reclaim() gets back all but what the list in slab_reclaim.c
 * says.
 *
 * Steps are those of "stop"; those that a loop comes to again, after a mere load, are left out, since
 * nothing has changed. KILL_OPS is how many gets and puts the others do. To repeat one operation, or one
 * step of it: KILL_ONLY="its name" KILL_FROM=step.
 */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slab_lcore.h"
#include "stop_others.h"

#define SECONDS 60 /* that one step may take */

/* What the process that is killed shares with the one that looks. */
static struct shared {
	struct stop now;
	struct stopper stopper;
} *shared;
static uint32_t ops, kills, reclaimed;

static _Noreturn void
victim(void)
{
	struct stop *s = &shared->now;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	others_stay_on(0);
	s->op->prepare(s);
	step_begin(&shared->stopper);
	s->op->run(s);
	step_end(&shared->stopper);
	_exit(0);
}

/* The number of the process that was killed, or 0 if the operation has ended before this step. */
static pid_t
kill_at(const struct operation *op, uint32_t step)
{
	int status;
	pid_t pid;

	snprintf(crew_at, sizeof(crew_at), "%s, step %u", op->name, step);
	alarm(SECONDS);
	shared->now = (struct stop){ .op = op, .pool = others_make_pool(op),
		.lcore = op->none ? SLAB_NO_LCORE : VICTIM, .stopped = true };
	step_init(&shared->stopper, step);
	shared->stopper.kills = true;
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0)
		victim();
	MUST(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared->stopper.ended)
		return 0;
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	snprintf(crew_at, sizeof(crew_at), "%s, killed in step %u: %s, %s, %s:%d", op->name, step,
		shared->stopper.function, shared->stopper.what, shared->stopper.file,
		shared->stopper.line);
	return pid;
}

/* Once it is reclaimed before others come by, and once its lcore has another owner first. */
static uint32_t
lost(struct stop *s, pid_t pid, uint32_t step)
{
	uint32_t all = slab_pool_added(s->pool), found;
	bool at_once = step % 2 == 0;

	if (at_once)
		reclaimed += slab_pool_reclaim(s->pool, (uint32_t)pid);
	MUST(others_look_for_all(s, s->lcore) <= all);
	slab_put(s->pool, LOOKER, s->kept, s->nr_kept);
	others_work(s, step, ops, false);
	MUST(others_look_for_all(s, s->lcore) <= all);
	if (!at_once)
		reclaimed += slab_pool_reclaim(s->pool, 0);
	MUST(slab_pool_reclaim(s->pool, 0) == 0);
	others_limit_depot(s->pool, false);
	found = others_look_for_all(s, LOOKER);
	MUST(found <= all);
	MUST(slab_pool_faults(s->pool) == 0);
	return all - found;
}

static bool
kill_once(const struct operation *op, uint32_t step, uint32_t *most)
{
	struct stop *s = &shared->now;
	pid_t pid = kill_at(op, step);
	uint32_t n;

	if (pid != 0 && !others_come_again(&shared->stopper)) {
		kills++;
		n = lost(s, pid, step);
		MUST(n <= op->lost);
		*most = n > *most ? n : *most;
	}
	others_free_pool(s->pool);
	return pid != 0;
}

static void
kill_everywhere(const struct operation *op)
{
	uint32_t from = crew_setting("KILL_FROM", 0), before = kills, most = 0, step;

	others_begin();
	for (step = from; kill_once(op, step, &most); step++)
		;
	MUST(kills > before);
	printf("%-42s%6u kills, %3u lost, at most %3u\n", op->name, kills - before, most, op->lost);
	fflush(stdout);
}

static bool
is_wanted(const struct operation *op)
{
	const char *only = getenv("KILL_ONLY");
	bool sequences = op->none && op->thread_cache == SLAB_THREADS_RSEQ;

	return (only == NULL || strcmp(only, op->name) == 0) &&
		!(sequences && slab_process.key == SLAB_NO_KEY);
}

int
main(void)
{
	uint32_t i;

	if (!slab_lcore_cache_possible()) {
		puts("skipped: this kernel lacks membarrier(2): lcores have no caches");
		return 77;
	}
	ops = crew_setting("KILL_OPS", 2000);
	if (slab_process.key == SLAB_NO_KEY)
		puts("no restartable sequences in this process: operations by them are left out");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED);
	signal(SIGALRM, crew_hung);
	others_choose_cpus();
	for (i = 0; i < nr_stop_operations; i++)
		if (is_wanted(&stop_operations[i]))
			kill_everywhere(&stop_operations[i]);
	printf("%u kills; %u gets and puts by the others after each; %u objects were reclaimed\n",
		kills, ops, reclaimed);
	return kills == 0;
}
