/* SPDX-License-Identifier: BSD-3-Clause */

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_kvargs.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include "inject.h"

static __thread bool armed;
/* In a function of EAL that gets memory; what EAL calls there is no step of its own. */
static __thread unsigned int inside;

static struct inject asked;
static unsigned int calls;
static char names[INJECT_MAX_CALLS][INJECT_NAME];
static atomic_long libc_blocks, mapped;

void
inject_begin(struct inject what)
{
	asked = what;
	calls = 0;
	armed = true;
}

unsigned int
inject_end(void)
{
	armed = false;
	return calls;
}

const char *
inject_name(unsigned int i)
{
	return i >= 1 && i <= calls && i <= INJECT_MAX_CALLS ? names[i - 1] : "none";
}

long
inject_libc_blocks(void)
{
	return atomic_load(&libc_blocks);
}

long
inject_mapped(void)
{
	return atomic_load(&mapped);
}

static bool
fails(const char *function, const char *of)
{
	if (!armed)
		return false;
	if (calls < INJECT_MAX_CALLS)
		snprintf(names[calls], INJECT_NAME, "%s %s", function, of != NULL ? of : "");
	calls++;
	return asked.nth != 0 && (asked.on ? calls >= asked.nth : calls == asked.nth);
}

/* The file of the code that called, without its directory and what follows the first dot. */
static void
name_caller(const void *address, char *name, size_t size)
{
	const char *file = "?", *slash;
	Dl_info info;

	if (dladdr(address, &info) != 0 && info.dli_fname != NULL)
		file = info.dli_fname;
	slash = strrchr(file, '/');
	file = slash != NULL ? slash + 1 : file;
	snprintf(name, size, "%.*s", (int)strcspn(file, "."), file);
}

static bool
libc_fails(const char *function, const void *caller)
{
	char name[INJECT_NAME / 2];

	if (!armed)
		return false;
	name_caller(caller, name, sizeof(name));
	/* It ends the process where it gets no memory. */
	if (strcmp(name, "libnuma") == 0 || !fails(function, inside == 0 ? name : "of EAL"))
		return false;
	errno = ENOMEM;
	return true;
}

/* The function behind ours. Finding it may take memory, which is no step. */
static void *
next_of(const char *function)
{
	bool before = armed;
	void *next;

	armed = false;
	next = dlsym(RTLD_NEXT, function);
	armed = before;
	if (next == NULL) {
		fprintf(stderr, "%s: %s\n", function, dlerror());
		abort();
	}
	return next;
}

/*
 * Defines a function that fails with the value given, or calls the true one. Where deep is 0, what
 * that one calls counts as well.
 */
#define STEP(type, function, deep, of, failure, parameters, ...) \
type \
function parameters \
{ \
	static __typeof__(&function) next; \
	type ret; \
	if (next == NULL) \
		next = next_of(#function); \
	if (inside == 0 && fails(#function, of)) \
		return failure; \
	inside += deep; \
	ret = next(__VA_ARGS__); \
	inside -= deep; \
	return ret; \
}

/* Of EAL, but in none of the headers that are installed. */
void *
rte_mem_map(void *address, size_t size, int prot, int flags, int fd, uint64_t offset);
int
rte_mem_unmap(void *address, size_t size);
int
rte_mem_lock(const void *address, size_t size);

STEP(void *, rte_malloc, 1, type, NULL,
	(const char *type, size_t size, unsigned int align), type, size, align)
STEP(void *, rte_zmalloc, 1, type, NULL,
	(const char *type, size_t size, unsigned int align), type, size, align)
STEP(void *, rte_calloc, 1, type, NULL,
	(const char *type, size_t n, size_t size, unsigned int align), type, n, size, align)
STEP(void *, rte_malloc_socket, 1, type, NULL,
	(const char *type, size_t size, unsigned int align, int socket), type, size, align, socket)
STEP(void *, rte_zmalloc_socket, 1, type, NULL,
	(const char *type, size_t size, unsigned int align, int socket), type, size, align, socket)
STEP(void *, rte_calloc_socket, 1, type, NULL,
	(const char *type, size_t n, size_t size, unsigned int align, int socket), type, n, size,
	align, socket)

static const struct rte_memzone *
no_memzone(int error)
{
	rte_errno = error;
	return NULL;
}

STEP(const struct rte_memzone *, rte_memzone_reserve, 1, "", no_memzone(asked.error),
	(const char *name, size_t len, int socket, unsigned int flags), name, len, socket, flags)
STEP(const struct rte_memzone *, rte_memzone_reserve_bounded, 1, "", no_memzone(asked.error),
	(const char *name, size_t len, int socket, unsigned int flags, unsigned int align,
	unsigned int bound), name, len, socket, flags, align, bound)

const struct rte_memzone *
rte_memzone_reserve_aligned(const char *name, size_t len, int socket, unsigned int flags,
	unsigned int align)
{
	static __typeof__(&rte_memzone_reserve_aligned) next;
	const struct rte_memzone *mz;

	if (next == NULL)
		next = next_of("rte_memzone_reserve_aligned");
	if (armed && asked.limit != 0 && len > asked.limit)
		return no_memzone(ENOMEM);
	if (inside == 0 && fails("rte_memzone_reserve_aligned", ""))
		return no_memzone(asked.error);
	inside++;
	mz = next(name, len, socket, flags, align);
	inside--;
	return mz;
}

void *
rte_mem_map(void *address, size_t size, int prot, int flags, int fd, uint64_t offset)
{
	static __typeof__(&rte_mem_map) next;
	void *at;

	if (next == NULL)
		next = next_of("rte_mem_map");
	if (inside == 0 && fails("rte_mem_map", "")) {
		rte_errno = ENOMEM;
		return NULL;
	}
	at = next(address, size, prot, flags, fd, offset);
	if (at != NULL)
		atomic_fetch_add(&mapped, (long)size);
	return at;
}

int
rte_mem_unmap(void *address, size_t size)
{
	static __typeof__(&rte_mem_unmap) next;
	int ret;

	if (next == NULL)
		next = next_of("rte_mem_unmap");
	ret = next(address, size);
	if (ret == 0)
		atomic_fetch_sub(&mapped, (long)size);
	return ret;
}

STEP(int, rte_mem_lock, 1, "", (rte_errno = ENOMEM, -1),
	(const void *address, size_t size), address, size)

STEP(struct rte_kvargs *, rte_kvargs_parse, 0, "", NULL,
	(const char *args, const char *const keys[]), args, keys)
STEP(int, rte_mempool_get_page_size, 0, "", -EINVAL,
	(struct rte_mempool *mp, size_t *size), mp, size)
STEP(ssize_t, rte_mempool_op_calc_mem_size_default, 0, "", -ENOMEM,
	(const struct rte_mempool *mp, uint32_t n, uint32_t shift, size_t *min, size_t *align),
	mp, n, shift, min, align)
STEP(int, rte_mempool_populate_iova, 0, "", -ENOMEM,
	(struct rte_mempool *mp, char *vaddr, rte_iova_t iova, size_t len,
	rte_mempool_memchunk_free_cb_t *end, void *arg), mp, vaddr, iova, len, end, arg)

/* The C library's own, by the names that it keeps for this. */
void *
__libc_malloc(size_t size);
void *
__libc_calloc(size_t n, size_t size);
void *
__libc_realloc(void *block, size_t size);
void
__libc_free(void *block);

static void *
counted(void *block)
{
	if (block != NULL)
		atomic_fetch_add(&libc_blocks, 1);
	return block;
}

void *
malloc(size_t size)
{
	if (libc_fails("malloc", __builtin_return_address(0)))
		return NULL;
	return counted(__libc_malloc(size));
}

void *
calloc(size_t n, size_t size)
{
	if (libc_fails("calloc", __builtin_return_address(0)))
		return NULL;
	return counted(__libc_calloc(n, size));
}

void *
realloc(void *block, size_t size)
{
	if (libc_fails("realloc", __builtin_return_address(0)))
		return NULL;
	if (block == NULL)
		return counted(__libc_malloc(size));
	return __libc_realloc(block, size);
}

void
free(void *block)
{
	if (block != NULL)
		atomic_fetch_sub(&libc_blocks, 1);
	__libc_free(block);
}
