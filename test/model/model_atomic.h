/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MODEL_ATOMIC_H
#define MODEL_ATOMIC_H

/*
 * What slab_atomic.h includes as SLAB_ATOMIC_MODEL: types of the same size and alignment, so that
 * the layouts and their assertions hold, and operations that the engine performs.
 */

#include "model.h"

typedef struct { uint8_t value; } slab_atomic8;
typedef struct { _Alignas(4) uint32_t value; } slab_atomic32;
typedef struct { _Alignas(8) uint64_t value; } slab_atomic64;

#define MODEL_SITE(p) (&(const struct model_site){ __func__, #p, __FILE__, __LINE__ })
#define MODEL_PICK(p, name) _Generic(*(p), \
	slab_atomic8: name##8, slab_atomic32: name##32, slab_atomic64: name##64)

#define slab_load_relaxed(p) MODEL_PICK(p, model_load)((p), MODEL_RELAXED, MODEL_SITE(p))
#define slab_load_acquire(p) MODEL_PICK(p, model_load)((p), MODEL_ACQUIRE, MODEL_SITE(p))
#define slab_store_relaxed(p, v) MODEL_PICK(p, model_store)((p), (v), MODEL_RELAXED, MODEL_SITE(p))
#define slab_store_release(p, v) MODEL_PICK(p, model_store)((p), (v), MODEL_RELEASE, MODEL_SITE(p))
#define slab_add_relaxed(p, v) \
	MODEL_PICK(p, model_rmw)((p), MODEL_ADD, (v), MODEL_RELAXED, MODEL_SITE(p))
#define slab_sub_relaxed(p, v) \
	MODEL_PICK(p, model_rmw)((p), MODEL_ADD, 0 - (uint64_t)(v), MODEL_RELAXED, MODEL_SITE(p))
#define slab_or_acq_rel(p, v) \
	MODEL_PICK(p, model_rmw)((p), MODEL_OR, (v), MODEL_ACQ_REL, MODEL_SITE(p))
#define slab_exchange_acq_rel(p, v) \
	MODEL_PICK(p, model_rmw)((p), MODEL_EXCHANGE, (v), MODEL_ACQ_REL, MODEL_SITE(p))
#define slab_cas_acquire(p, expected, v) MODEL_PICK(p, model_cas)((p), (expected), (v), true, \
	MODEL_ACQUIRE, MODEL_ACQUIRE, MODEL_SITE(p))
#define slab_cas_release(p, expected, v) MODEL_PICK(p, model_cas)((p), (expected), (v), true, \
	MODEL_RELEASE, MODEL_RELAXED, MODEL_SITE(p))
#define slab_claim_acquire(p, expected, v) MODEL_PICK(p, model_cas)((p), (expected), (v), false, \
	MODEL_ACQUIRE, MODEL_RELAXED, MODEL_SITE(p))
#define slab_compiler_barrier() model_barrier(MODEL_SITE())

#define MODEL_WIDTH(bits) \
static inline uint##bits##_t \
model_load##bits(const slab_atomic##bits *p, enum model_order order, \
	const struct model_site *site) \
{ \
	return (uint##bits##_t)model_load(p, sizeof(*p), order, site); \
} \
static inline void \
model_store##bits(slab_atomic##bits *p, uint##bits##_t value, enum model_order order, \
	const struct model_site *site) \
{ \
	model_store(p, sizeof(*p), value, order, site); \
} \
static inline uint##bits##_t \
model_rmw##bits(slab_atomic##bits *p, enum model_op op, uint64_t value, \
	enum model_order order, const struct model_site *site) \
{ \
	return (uint##bits##_t)model_rmw(p, sizeof(*p), op, (uint##bits##_t)value, order, site); \
} \
static inline bool \
model_cas##bits(slab_atomic##bits *p, uint##bits##_t *expected, uint##bits##_t value, bool weak, \
	enum model_order order, enum model_order failure, const struct model_site *site) \
{ \
	uint64_t old = *expected; \
	bool done = model_cas(p, sizeof(*p), &old, value, weak, order, failure, site); \
	*expected = (uint##bits##_t)old; \
	return done; \
}

MODEL_WIDTH(8)
MODEL_WIDTH(32)
MODEL_WIDTH(64)

#endif /* MODEL_ATOMIC_H */
