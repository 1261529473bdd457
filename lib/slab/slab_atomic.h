/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_ATOMIC_H
#define SLAB_ATOMIC_H

/* Let the processor breathe before it looks at something again. */
#if defined(__x86_64__)
#define slab_pause() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define slab_pause() __asm__ volatile("yield")
#else
#define slab_pause() slab_compiler_barrier()
#endif

/*
 * The one place that names the language's atomics. A model checker defines SLAB_ATOMIC_MODEL to
 * the name of a header that brings the same types and operations, and then runs the very code
 * that ships.
 */
#ifdef SLAB_ATOMIC_MODEL
#include SLAB_ATOMIC_MODEL
#else

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint8_t) slab_atomic8;
typedef _Atomic(uint32_t) slab_atomic32;
typedef _Atomic(uint64_t) slab_atomic64;

#define slab_load_relaxed(p) atomic_load_explicit((p), memory_order_relaxed)
#define slab_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
#define slab_store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define slab_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define slab_add_relaxed(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define slab_sub_relaxed(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_relaxed)
#define slab_or_acq_rel(p, v) atomic_fetch_or_explicit((p), (v), memory_order_acq_rel)
#define slab_exchange_acq_rel(p, v) atomic_exchange_explicit((p), (v), memory_order_acq_rel)

/* Keeps the compiler from moving accesses across, not the processor. */
#define slab_compiler_barrier() atomic_signal_fence(memory_order_seq_cst)

/* On failure *(expected) holds the newer value, read with acquire as well. */
#define slab_cas_acquire(p, expected, v) \
	atomic_compare_exchange_weak_explicit((p), (expected), (v), \
		memory_order_acquire, memory_order_acquire)
#define slab_cas_release(p, expected, v) \
	atomic_compare_exchange_weak_explicit((p), (expected), (v), \
		memory_order_release, memory_order_relaxed)
#define slab_claim_acquire(p, expected, v) \
	atomic_compare_exchange_strong_explicit((p), (expected), (v), \
		memory_order_acquire, memory_order_relaxed)

#endif /* SLAB_ATOMIC_MODEL */
#endif /* SLAB_ATOMIC_H */
