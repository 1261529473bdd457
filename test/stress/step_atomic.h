/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef STEP_ATOMIC_H
#define STEP_ATOMIC_H

/*
 * What slab_atomic.h includes as SLAB_ATOMIC_MODEL, to stop a thread before each of its atomics.
 * The operations are slab_atomic.h's own, read once more as they ship; it is the language's
 * atomics, of which they are made, that become steps here. So whatever is added there is a step as
 * well, or does not compile.
 *
 * Then there is no model: restartable sequences are compiled in, and a thread takes them whole.
 */

#include "step.h"

#undef SLAB_ATOMIC_MODEL
#undef SLAB_ATOMIC_H
#include "slab_atomic.h"

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_xor_explicit

/* The address, as the compilers' own atomics want it, after a step. */
#define STEP(p, writes) \
	(step(__func__, #p, __FILE__, __LINE__, writes), \
		(__typeof__(((void)0, *(p))) *)(uintptr_t)(p))

#define atomic_load_explicit(p, order) __atomic_load_n(STEP(p, false), order)
#define atomic_store_explicit(p, v, order) __atomic_store_n(STEP(p, true), v, order)
#define atomic_exchange_explicit(p, v, order) __atomic_exchange_n(STEP(p, true), v, order)
#define atomic_compare_exchange_weak_explicit(p, expected, v, order, failure) \
	__atomic_compare_exchange_n(STEP(p, true), expected, v, true, order, failure)
#define atomic_compare_exchange_strong_explicit(p, expected, v, order, failure) \
	__atomic_compare_exchange_n(STEP(p, true), expected, v, false, order, failure)
#define atomic_fetch_add_explicit(p, v, order) __atomic_fetch_add(STEP(p, true), v, order)
#define atomic_fetch_sub_explicit(p, v, order) __atomic_fetch_sub(STEP(p, true), v, order)
#define atomic_fetch_or_explicit(p, v, order) __atomic_fetch_or(STEP(p, true), v, order)

#endif /* STEP_ATOMIC_H */
