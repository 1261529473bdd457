/* SPDX-License-Identifier: BSD-3-Clause */

#include <relacy/relacy.hpp>

#include "model.h"

/* relacy gives these to the code under test; here they mean what C++ means. */
#undef new
#undef delete
#undef malloc
#undef free
#undef assert

#define BLOCK 16384
#define WORD sizeof(uint32_t)
#define MAX_CELLS 96
#define MAX_OBJECTS 32
#define NOBODY 0
#define ID_BITS 30

typedef rl::atomic<uint64_t> atomic_word;
typedef rl::var<unsigned int> plain_word;

/* A word that threads share. Its value is in the atomic while threads run, if it has one. */
struct cell {
	char *at;
	unsigned int size;
	model_kind kind;
	const char *name;
	atomic_word *atomic;
	plain_word *plain; /* of a link: written with each store to it */
};

alignas(4096) static char block[BLOCK], made[BLOCK];
static cell cells[MAX_CELLS];
static unsigned int nr_cells;
static unsigned char cell_at[BLOCK / WORD]; /* number + 1 */
static plain_word *holder[MAX_OBJECTS];

alignas(16) static char atomics[MAX_CELLS][sizeof(atomic_word)];
alignas(16) static char plains[MAX_CELLS + MAX_OBJECTS][sizeof(plain_word)];

static const model_scenario *scenario;
static const model_mutant *mutant;
static bool running; /* threads are; before and after, all is plain memory */
static char history[1 << 18];

static void
fail(const char *what, rl::debug_info_param info)
{
	rl::ctx().fail_test(what, rl::test_result_user_assert_failed, info);
}

static rl::debug_info
info_of(const model_site *site)
{
	return rl::debug_info(site->func, site->file, site->line);
}

/* Memory and cells. */

static bool
in_block(const void *at)
{
	return (uintptr_t)at - (uintptr_t)block < BLOCK;
}

static cell *
find(const void *at)
{
	unsigned int i = in_block(at) ? cell_at[((uintptr_t)at - (uintptr_t)block) / WORD] : 0;

	return i == 0 ? NULL : &cells[i - 1];
}

void *
model_block(uint64_t size)
{
	if (size > BLOCK)
		abort();
	return block;
}

void
model_share_at(const void *at, unsigned int size, enum model_kind kind, const char *name)
{
	unsigned int i;

	if (!in_block(at) || nr_cells == MAX_CELLS || find(at) != NULL) {
		fprintf(stderr, "cannot share %s\n", name);
		abort();
	}
	cells[nr_cells] = cell{ const_cast<char *>((const char *)at), size, kind, name, NULL,
		NULL };
	nr_cells++;
	for (i = 0; i < size; i += WORD)
		cell_at[((uintptr_t)at - (uintptr_t)block + i) / WORD] = (unsigned char)nr_cells;
}

static uint64_t
raw_load(const void *at, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static void
raw_store(void *at, unsigned int size, uint64_t value)
{
	memcpy(at, &value, size);
}

/* Each execution starts from the memory that setup() left. */
static void
begin(void)
{
	unsigned int i;

	memcpy(block, made, BLOCK);
	for (i = 0; i < nr_cells; i++) {
		cell *c = &cells[i];

		if (c->kind == MODEL_ATOMIC || c->kind == MODEL_LINK)
			c->atomic = new (atomics[i]) atomic_word(raw_load(c->at, c->size));
		if (c->kind == MODEL_PLAIN || c->kind == MODEL_LINK)
			c->plain = new (plains[i]) plain_word(NOBODY);
	}
	for (i = 0; i < scenario->objects; i++)
		holder[i] = new (plains[MAX_CELLS + i]) plain_word(NOBODY);
	running = true;
}

static void
end(void)
{
	unsigned int i;

	running = false;
	for (i = 0; i < nr_cells; i++)
		if (cells[i].atomic != NULL)
			raw_store(cells[i].at, cells[i].size, cells[i].atomic->debug_value());
	scenario->after();
	for (i = 0; i < nr_cells; i++) {
		if (cells[i].atomic != NULL)
			cells[i].atomic->~atomic_word();
		if (cells[i].plain != NULL)
			cells[i].plain->~plain_word();
	}
	for (i = 0; i < scenario->objects; i++)
		holder[i]->~plain_word();
}

/* Steps, and what a mutant makes of them. */

static bool
twisted(const model_site *site, model_op op, model_twist twist)
{
	return mutant != NULL && mutant->twist == twist && mutant->op == op &&
		(mutant->func == NULL || strcmp(mutant->func, site->func) == 0) &&
		(mutant->what == NULL || strcmp(mutant->what, site->what) == 0);
}

static rl::memory_order
order_of(const model_site *site, model_op op, model_order order)
{
	static const rl::memory_order orders[] = {
		rl::mo_relaxed, rl::mo_acquire, rl::mo_release, rl::mo_acq_rel,
	};

	if (twisted(site, op, TWIST_RELAXED))
		order = MODEL_RELAXED;
	if (twisted(site, op, TWIST_ACQUIRE))
		order = MODEL_ACQUIRE;
	if (twisted(site, op, TWIST_RELEASE))
		order = MODEL_RELEASE;
	return orders[order];
}

static void
seen(const model_site *site, model_op op, uint64_t old)
{
	if (scenario->seen != NULL)
		scenario->seen(site, op, old);
}

/* The cell of an atomic that takes part, or NULL: then its memory is all there is to it. */
static cell *
find_atomic(const void *at, const model_site *site, bool write)
{
	cell *c = running ? find(at) : NULL;

	if (running && in_block(at) && write && c == NULL)
		fail("a shared atomic that the scenario did not name", info_of(site));
	return c != NULL && c->atomic != NULL ? c : NULL;
}

uint64_t
model_load(const void *at, unsigned int size, enum model_order order, const model_site *site)
{
	cell *c = find_atomic(at, site, false);
	rl::memory_order mo = order_of(site, MODEL_LOAD, order);
	uint64_t value;

	if (c == NULL)
		return raw_load(at, size);
	if (twisted(site, MODEL_LOAD, TWIST_PLAIN))
		(*c->plain)(info_of(site)).load();
	value = c->atomic->load(mo, info_of(site));
	if (twisted(site, MODEL_LOAD, TWIST_ZERO))
		value = 0;
	if (twisted(site, MODEL_LOAD, TWIST_TWICE) && value != 0 &&
			c->atomic->load(mo, info_of(site)) != value)
		value = 2;
	seen(site, MODEL_LOAD, value);
	return value;
}

void
model_store(void *at, unsigned int size, uint64_t value, enum model_order order,
	const model_site *site)
{
	cell *c = find_atomic(at, site, true);

	if (c == NULL) {
		raw_store(at, size, value);
		return;
	}
	c->atomic->store(value, order_of(site, MODEL_STORE, order), info_of(site));
	if (c->kind == MODEL_LINK)
		(*c->plain)(info_of(site)).store(NOBODY);
}

static uint64_t
combine(model_op op, uint64_t old, uint64_t value)
{
	return op == MODEL_ADD ? old + value : op == MODEL_OR ? old | value : value;
}

static uint64_t
rmw(cell *c, model_op op, uint64_t value, rl::memory_order mo, const model_site *site)
{
	uint64_t old;

	if (twisted(site, op, TWIST_SPLIT)) {
		old = c->atomic->load(rl::mo_acquire, info_of(site));
		c->atomic->store(combine(op, old, value), rl::mo_release, info_of(site));
		return old;
	}
	if (op == MODEL_ADD)
		return c->atomic->fetch_add(value, mo, info_of(site));
	if (op == MODEL_OR)
		return c->atomic->fetch_or(value, mo, info_of(site));
	return c->atomic->exchange(value, mo, info_of(site));
}

uint64_t
model_rmw(void *at, unsigned int size, enum model_op op, uint64_t value, enum model_order order,
	const model_site *site)
{
	cell *c = find_atomic(at, site, true);
	uint64_t old;

	if (c == NULL) {
		old = raw_load(at, size);
		raw_store(at, size, combine(op, old, value));
		return old;
	}
	old = rmw(c, op, value, order_of(site, op, order), site);
	seen(site, op, old);
	return twisted(site, op, TWIST_ZERO) ? 0 : old;
}

bool
model_cas(void *at, unsigned int size, uint64_t *expected, uint64_t value, bool weak,
	enum model_order order, enum model_order failure, const model_site *site)
{
	cell *c = find_atomic(at, site, true);
	rl::memory_order mo = order_of(site, MODEL_CAS, order);
	rl::memory_order failed = twisted(site, MODEL_CAS, TWIST_FAIL_RELAXED) ||
		mo == rl::mo_relaxed ? rl::mo_relaxed : order_of(site, MODEL_CAS, failure);
	uint64_t old = *expected;

	if (twisted(site, MODEL_CAS, TWIST_UNTAGGED))
		value &= (UINT64_C(1) << ID_BITS) - 1;
	if (c != NULL && twisted(site, MODEL_CAS, TWIST_SPLIT)) {
		*expected = c->atomic->load(rl::mo_acquire, info_of(site));
		if (*expected == old)
			c->atomic->store(value, rl::mo_release, info_of(site));
		return *expected == old;
	}
	if (c != NULL)
		return weak ? c->atomic->compare_exchange(rl::bool_t<true>(), *expected, value,
				mo, failed, info_of(site)) :
			c->atomic->compare_exchange(rl::bool_t<false>(), *expected, value,
				mo, failed, info_of(site));
	*expected = raw_load(at, size);
	if (*expected == old)
		raw_store(at, size, value);
	return *expected == old;
}

/* Fences. */

void
model_barrier(const model_site *site)
{
	if (running && scenario->fence_pair && strcmp(site->func, "slab_lcore_enter_owner") == 0 &&
			!twisted(site, MODEL_FENCE, TWIST_SKIP))
		rl::atomic_thread_fence(rl::mo_seq_cst, info_of(site));
}

/* What slab_process.c calls as getcpu(): all threads are on one CPU, as if just moved there. */
extern "C" int
model_getcpu(unsigned int *cpu, unsigned int *node)
{
	*cpu = *node = 0;
	return 0;
}

/* What it calls as syscall(), for membarrier only. */
extern "C" long
model_syscall(long number, ...)
{
	static const model_site site = { "membarrier", "", "membarrier", 0 };

	(void)number;
	if (!running || twisted(&site, MODEL_FENCE, TWIST_SKIP))
		return 0;
	if (scenario->fence_pair) {
		rl::atomic_thread_fence(rl::mo_seq_cst, info_of(&site));
	} else {
		rl::ctx().sched();
		rl::systemwide_fence(info_of(&site));
	}
	return 0;
}

/* Plain accesses, as the compiler reports them. */

/*
 * A mutant that takes from what is empty reads codes[-1U] or offsets[-1U]: that is 16 GB or 32 GB
 * away, where nothing of a process is so close to its data, and would end the process.
 */
static bool
wrapped(const void *at)
{
	uint64_t away = (uintptr_t)at - (uintptr_t)block;

	return away >= UINT64_C(1) << 33 && away < (UINT64_C(1) << 35) + BLOCK;
}

static void
plain(const void *at, unsigned int size, bool write)
{
	unsigned int i, step;

	if (running && wrapped(at))
		fail("an index below 0", rl::debug_info("plain access"));
	if (!running || !in_block(at))
		return;
	for (i = 0; i < size; i += step) {
		cell *c = find((const char *)at + i);
		step = c != NULL ? c->size : WORD;
		rl::debug_info info("plain access", c != NULL ? c->name : "?", i);

		if (c != NULL && c->kind == MODEL_PLAIN && write)
			(*c->plain)(info).store(NOBODY);
		else if (c != NULL && c->kind == MODEL_PLAIN)
			(*c->plain)(info).load();
		else if (write)
			fail("a plain store to what threads share", info);
	}
}

#define ACCESS(size) \
	void __tsan_read##size(void *at) { plain(at, size, false); } \
	void __tsan_write##size(void *at) { plain(at, size, true); } \
	void __tsan_unaligned_read##size(void *at) { plain(at, size, false); } \
	void __tsan_unaligned_write##size(void *at) { plain(at, size, true); }

extern "C" {
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

/* Other than the compiler's, this one is called by the name that the sources give it. */
void *
model_memmove(void *to, const void *from, size_t size)
{
	plain(from, (unsigned int)size, false);
	plain(to, (unsigned int)size, true);
	return memmove(to, from, size);
}

void __tsan_read_range(void *at, unsigned long size) { plain(at, size, false); }
void __tsan_write_range(void *at, unsigned long size) { plain(at, size, true); }
void __tsan_init(void) { }
void __tsan_func_entry(void *) { }
void __tsan_func_exit(void) { }

void *
__tsan_memcpy(void *to, const void *from, size_t size)
{
	plain(from, size, false);
	plain(to, size, true);
	return memcpy(to, from, size);
}

void *
__tsan_memset(void *to, int value, size_t size)
{
	plain(to, size, true);
	return memset(to, value, size);
}
}

/* For scenarios. */

void
model_assert_that(bool cond, const char *what, const char *func, const char *file,
	unsigned int line)
{
	if (!cond && rl::is_ctx())
		fail(what, rl::debug_info(func, file, line));
	if (!cond) {
		fprintf(stderr, "%s:%u: %s: setup lacks %s\n", file, line, func, what);
		abort();
	}
}

unsigned int
model_rand(unsigned int limit)
{
	return rl::rand(limit);
}

void
model_hold(unsigned int object)
{
	rl::debug_info info("model_hold", "object", object);

	if (object >= scenario->objects)
		fail("no such object", info);
	if ((*holder[object])(info).load() != NOBODY)
		fail("an object was handed out twice", info);
	(*holder[object])(info).store(1 + rl::thread_index());
}

void
model_let_go(unsigned int object)
{
	rl::debug_info info("model_let_go", "object", object);

	if ((*holder[object])(info).load() != 1 + rl::thread_index())
		fail("another holds the object", info);
	(*holder[object])(info).store(NOBODY);
}

/* Checks. */

/*
 * What relacy writes, as far as there is room. While it runs, new is its own and delete of a size
 * is not: a stream that allocates would mix them up.
 */
struct sink : std::streambuf {
	sink(char *to, size_t size) { setp(to, to + size - 1); }
	int overflow(int c) { return traits_type::not_eof(c); }
	std::streamsize xsputn(const char *s, std::streamsize n)
	{
		std::streamsize room = std::min<std::streamsize>(n, epptr() - pptr());

		memcpy(pptr(), s, (size_t)room);
		pbump((int)room);
		return n;
	}
};

template<int threads>
struct suite : rl::test_suite<suite<threads>, threads> {
	void before() { begin(); }
	void thread(unsigned int i) { scenario->thread(i); }
	void after() { end(); }
};

static void
prepare(const model_scenario *s, const model_mutant *m)
{
	running = false;
	scenario = s;
	mutant = m;
	nr_cells = 0;
	memset(cell_at, 0, sizeof(cell_at));
	memset(block, 0, sizeof(block));
	scenario->setup();
	memcpy(made, block, sizeof(made));
}

bool
model_check(const model_scenario *s, const model_mutant *m, const model_effort *effort,
	uint64_t *done)
{
	static const rl::scheduler_type_e searches[] = {
		rl::sched_random, rl::sched_bound, rl::sched_full,
	};
	memset(history, 0, sizeof(history));
	sink told(history, sizeof(history)), nothing(history + sizeof(history) - 1, 1);
	std::ostream out(&told), progress(&nothing);
	rl::test_params params;

	prepare(s, m);
	params.iteration_count = effort->iterations;
	params.search_type = searches[effort->search];
	params.context_bound = effort->bound;
	params.output_stream = &out;
	params.progress_stream = &progress;
	if (s->threads == 2)
		rl::simulate<suite<2> >(params);
	else
		rl::simulate<suite<3> >(params);
	running = false;
	*done = params.stop_iteration;
	return params.test_result == rl::test_result_success;
}

const char *
model_history(void)
{
	return history;
}
