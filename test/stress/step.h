/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef STEP_H
#define STEP_H

/* A thread that stops before a certain one of its steps: there it stands until it is let go. */

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stopper {
	uint32_t left;           /* steps that are still to be taken */
	bool after_write;        /* the last one before the stop was no mere load */
	bool kills;              /* it does not stop there, its process is killed */
	bool ended;              /* instead, since there is no such step */
	sem_t stopped, go;
	const char *function, *what, *file;
	int line;
};

/* Of this thread, if it is one that stops. */
extern __thread struct stopper *step_stopper __attribute__((tls_model("initial-exec")));

/* Stop if it is time to. */
void
step_slow(const char *function, const char *what, const char *file, int line, bool writes);

static inline void
step(const char *function, const char *what, const char *file, int line, bool writes)
{
	if (__builtin_expect(step_stopper != NULL, 0))
		step_slow(function, what, file, line, writes);
}

/* To stop after so many steps. */
void
step_init(struct stopper *s, uint32_t steps);

/* This thread is the one; or it says that it has come to the end before. */
void
step_begin(struct stopper *s);
void
step_end(struct stopper *s);

/* Another thread waits until it has stopped, true, or ended; and lets it go. */
bool
step_wait(struct stopper *s);
void
step_go(struct stopper *s);

#endif /* STEP_H */
