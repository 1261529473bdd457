/* SPDX-License-Identifier: BSD-3-Clause */

#include <signal.h>
#include <unistd.h>

#include "step.h"

__thread struct stopper *step_stopper;

void
step_slow(const char *function, const char *what, const char *file, int line, bool writes)
{
	struct stopper *s = step_stopper;

	if (s->left-- != 0) {
		s->after_write = writes;
		return;
	}
	s->function = function;
	s->what = what;
	s->file = file;
	s->line = line;
	if (s->kills)
		kill(getpid(), SIGKILL);
	step_stopper = NULL;
	sem_post(&s->stopped);
	sem_wait(&s->go);
}

void
step_init(struct stopper *s, uint32_t steps)
{
	*s = (struct stopper){ .left = steps, .after_write = true };
	sem_init(&s->stopped, 0, 0);
	sem_init(&s->go, 0, 0);
}

void
step_begin(struct stopper *s)
{
	step_stopper = s;
}

void
step_end(struct stopper *s)
{
	if (step_stopper == NULL)
		return;
	step_stopper = NULL;
	s->ended = true;
	sem_post(&s->stopped);
}

bool
step_wait(struct stopper *s)
{
	sem_wait(&s->stopped);
	return !s->ended;
}

void
step_go(struct stopper *s)
{
	sem_post(&s->go);
}
