/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cache of a CPU, for threads that are no lcores: slab_rseq.h, slab_cpu.c, and takers as in
 * slab_lcore.c. A sequence is a few steps, which the kernel breaks off when another thread runs on
 * the CPU in between, or when a taker of its process asks for it; its last step sets len and clears the
 * mark at once. Each step is one of the program; a CPU holds its store of the mark back until it stores
 * something else, is fenced, or runs another thread.
 *
 * No object is had by two, and at the end all are there. -D chooses who takes part, and a mutant.
 */

#ifndef THREADS_A
#define THREADS_A 2    /* of process A, on the CPU */
#endif
#ifndef THREADS_B
#define THREADS_B 0    /* of process B */
#endif
#ifndef TAKERS_A
#define TAKERS_A 0     /* on another CPU */
#endif
#ifndef TAKERS_B
#define TAKERS_B 0
#endif
#define THREADS (THREADS_A + THREADS_B)
#define TAKERS (TAKERS_A + TAKERS_B)
#ifndef ROUNDS
#define ROUNDS 2       /* gets, each with a put, of a thread */
#endif
#define OBJECTS 2

#define KEY_A 10
#define KEY_B 11
#define TAKEN 12
#define KEY(t) (t < THREADS_A -> KEY_A : KEY_B)

byte row[OBJECTS + 1] = { 0, 1, 0 };
byte count = OBJECTS, busy, shut = KEY_A;
bool held[OBJECTS];
byte runs;                         /* the thread that has the CPU, from 0 on */
bool inside[THREADS], broken[THREADS];
bool mark_waits;                   /* the CPU has not stored the mark of who runs yet */
byte slab[OBJECTS], in_slab, ended; /* where those go that find no cache */

inline drain()
{
	if
	:: mark_waits -> busy = runs + 1; mark_waits = false
	:: else
	fi
}

inline break_off(t)
{
	if
	:: inside[t] -> broken[t] = true
	:: else
	fi
}

/* Before each step of a thread: it has the CPU, and whoever had it was preempted. */
inline on_cpu(t)
{
	if
	:: runs != t -> drain(); break_off(runs); runs = t
	:: else
	fi
}

inline hold(o)
{
	assert(!held[o]);
	held[o] = true
}

inline from_slab(got)
{
	if
	:: in_slab > 0 -> in_slab--; got = slab[in_slab] + 1
	:: else -> got = 0
	fi
}

inline to_slab(o)
{
	slab[in_slab] = o;
	in_slab++
}

/* Somebody gave up, here or on another CPU by now: the mark goes, unless another has come since. */
inline clear_mark(t)
{
	atomic {
		if
		:: on_cpu(t); drain()
		:: runs == t -> drain()
		:: runs != t
		fi;
		if
#ifdef MUTANT_CLEAR_BLINDLY
		:: true -> busy = 0
#else
		:: busy == t + 1 -> busy = 0
		:: else
#endif
		fi;
		inside[t] = false
	}
}

/* The mark, and whether the cache is this process's. */
inline begin_sequence(t, ok)
{
	atomic { on_cpu(t); inside[t] = true; broken[t] = false; ok = true };
#ifndef MUTANT_NO_MARK
	atomic { if :: !broken[t] -> on_cpu(t); mark_waits = true :: else -> ok = false fi };
#endif
	atomic {
		if
		:: ok && !broken[t] ->
			on_cpu(t);
#ifndef MUTANT_SHUT_NOT_LOOKED_AT
			ok = (shut == KEY(t))
#endif
		:: else -> ok = false
		fi
	}
}

/* The last step; nothing else of a sequence that was broken off takes place. */
inline commit(t, new_count, ok)
{
#ifdef MUTANT_COMMIT_IN_TWO_STEPS
	atomic { if :: !broken[t] -> on_cpu(t); drain(); count = new_count :: else -> ok = false fi };
	atomic {
		if
		:: ok && !broken[t] -> on_cpu(t); busy = 0; inside[t] = false
		:: else -> ok = false
		fi
	}
#else
	atomic {
		if
#ifdef MUTANT_COMMIT_ANYWAY
		:: true ->
#else
		:: !broken[t] ->
#endif
			on_cpu(t);
			drain();
			count = new_count;
			busy = 0;
			inside[t] = false
#ifndef MUTANT_COMMIT_ANYWAY
		:: else -> ok = false
#endif
		fi
	}
#endif
}

/* got is the object's number + 1, or 0. */
inline pop_by_sequence(t, got, n, ok)
{
	got = 0;
	begin_sequence(t, ok);
	if
	:: ok ->
		atomic { if :: !broken[t] -> on_cpu(t); n = count :: else -> ok = false fi };
		if
		:: ok && n > 0 ->
			atomic { if :: !broken[t] -> on_cpu(t); got = row[n - 1] + 1 :: else -> ok = false fi };
			if :: ok -> commit(t, n - 1, ok) :: else fi;
			if :: !ok -> got = 0 :: else fi
		:: else -> ok = false
		fi
	:: else
	fi;
	if :: !ok -> clear_mark(t) :: else fi
}

inline push_by_sequence(t, o, n, ok)
{
	begin_sequence(t, ok);
	if
	:: ok ->
		atomic { if :: !broken[t] -> on_cpu(t); n = count :: else -> ok = false fi };
		atomic { if :: ok && !broken[t] -> on_cpu(t); row[n] = o :: else -> ok = false fi };
		if :: ok -> commit(t, n + 1, ok) :: else fi
	:: else
	fi;
	if :: !ok -> clear_mark(t) :: else fi
}

/* As slab_lcore_claim(), by one of that key; ok says whether the cache is its own now. */
inline claim(key, was, ok)
{
#ifdef MUTANT_CLAIM_IN_TWO_STEPS
	was = shut;
	ok = (was != TAKEN);
	if :: ok -> shut = TAKEN :: else fi;
#else
	atomic { was = shut; ok = (was != TAKEN); if :: ok -> shut = TAKEN :: else fi };
#endif
	if
	:: ok && was == key ->
#ifndef MUTANT_NO_RESTART
		atomic { drain(); break_off(runs) }
#endif
	:: ok && was != key ->
#ifndef MUTANT_NO_FENCE
		atomic { drain() };
#endif
#ifndef MUTANT_BUSY_NOT_LOOKED_AT
		if
		:: busy != 0 -> shut = was; ok = false
		:: else
		fi
#endif
	:: else
	fi
}

/* A thread that may not use sequences here: the cache is claimed for one operation, and then its own. */
inline pop_by_claim(t, got, n, ok, was)
{
	got = 0;
	ok = false;
	atomic { on_cpu(t); n = busy };
	if
	:: n == 0 -> claim(KEY(t), was, ok)
	:: else
	fi;
	if
	:: ok ->
		n = count;
		if
		:: n > 0 -> got = row[n - 1] + 1; count = n - 1
		:: else
		fi;
		atomic { on_cpu(t); shut = KEY(t) }
	:: else
	fi
}

active [THREADS] proctype thread()
{
	byte got, n, was, round;
	bool ok;

	for (round : 1 .. ROUNDS) {
		pop_by_sequence(_pid, got, n, ok);
		if :: got == 0 -> pop_by_claim(_pid, got, n, ok, was) :: else fi;
		if :: got == 0 -> atomic { from_slab(got) } :: else fi;
		if
		:: got != 0 ->
			hold(got - 1);
			held[got - 1] = false;
			push_by_sequence(_pid, got - 1, n, ok);
			if :: !ok -> atomic { to_slab(got - 1) } :: else fi
		:: else
		fi
	}
	ended++
}

#if TAKERS > 0
active [TAKERS] proctype taker()
{
	byte key = (_pid - THREADS < TAKERS_A -> KEY_A : KEY_B), was, n, got;
	bool ok;

	claim(key, was, ok);
	if
	:: ok ->
		n = count;
		if
		:: n > 0 -> got = row[n - 1] + 1; count = n - 1
		:: else
		fi;
		shut = was
	:: else
	fi;
	if
	:: got != 0 -> hold(got - 1); held[got - 1] = false; atomic { to_slab(got - 1) }
	:: else
	fi;
	ended++
}
#endif

/* What is in the cache and what is in slabs are all objects, each once. */
active proctype judge()
{
	byte i, sum, seen;

	ended == THREADS + TAKERS;
	sum = in_slab + count;
	assert(sum == OBJECTS);
	for (i : 1 .. count) {
		seen = seen | (1 << row[i - 1])
	}
	for (i : 1 .. in_slab) {
		seen = seen | (1 << slab[i - 1])
	}
	assert(seen == (1 << OBJECTS) - 1);
	assert(busy == 0 && shut != TAKEN)
}

