/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The whole way of objects through a pool of one node: caches of lcores, depot, slabs. Each atomic
 * block below is one access to what is shared, with the work of its own that follows; between any
 * two of them others may act, or the process may be killed. Memory is sequentially consistent but
 * for the mark "busy", which stays in its processor until a fence (test/model has the orderings).
 *
 * Sets of objects are masks, object o is 1 << o. What a list's tag does is done by "linked": a pop
 * begins by linking itself to the list, and each pop that succeeds cuts all such links.
 *
 * -D sets what a pool is. All else is read from the environment when the search begins, so that one
 * program searches many configurations; -D may set that too.
 */
#ifndef OBJECTS
#define OBJECTS 5
#define SLAB 3		/* objects in a slab; there are two */
#define MAGAZINE 2
#define CACHE 4
#define DEPOT 1		/* magazines, 1 or 2 */
#endif

/* Who there is and what each may do, DO_... below; 0: nobody. */
#ifndef LCORE_0
hidden byte LCORE_0, LCORE_1, THREAD;
hidden byte OTHER;	/* another thread, as the one that reclaims */
hidden byte HEIR;	/* has lcore 0 when its process was killed, and goes on with the cache */
hidden byte OPERATIONS;	/* of lcore 0 */
hidden byte OTHERS;	/* operations of each other */
hidden byte SCENE;	/* how it begins, see begin() */
hidden byte LIMIT;	/* magazines that may be full at first */
hidden byte OWN;	/* partial slabs that an lcore takes at once, 0 to 2 */
hidden byte MORTAL;	/* mask of processes that may be killed */
hidden byte DEATHS;	/* so many of them */
hidden byte EARLY;	/* 1: a magazine is parked before what stays in the row is said */
hidden byte ALONE;	/* 1: all but one stop at some moment, for good */
hidden byte MUTANT;
#define READ_PARAMETERS \
	c_code { \
		LCORE_0 = parameter("LCORE_0"); \
		LCORE_1 = parameter("LCORE_1"); \
		THREAD = parameter("THREAD"); \
		OTHER = parameter("OTHER"); \
		HEIR = parameter("HEIR"); \
		OPERATIONS = parameter("OPERATIONS"); \
		OTHERS = parameter("OTHERS"); \
		SCENE = parameter("SCENE"); \
		LIMIT = parameter("LIMIT"); \
		OWN = parameter("OWN"); \
		MORTAL = parameter("MORTAL"); \
		DEATHS = parameter("DEATHS"); \
		EARLY = parameter("EARLY"); \
		ALONE = parameter("ALONE"); \
		MUTANT = parameter("MUTANT"); \
	}
#else
#define READ_PARAMETERS skip
#endif
#define MOST_AT_ONCE 2	/* objects got or put */
#define MOST_STEPS 250	/* that an operation takes when nobody disturbs it */

#define PARK_FIRST 1	/* a full cache keeps its objects until the magazine is parked */
#define CLAIM_TWICE 2	/* look, then claim, in two steps */
#define NOT_LOOKING 3	/* takers do not look at busy */
#define NO_FENCE 4	/* takers do without */
#define ALWAYS_PUSH 5	/* a slab is pushed whenever bits are put */
#define NO_TAG 6	/* a pop compares ids only */
#define BLIND_RECLAIM 7	/* reclaim does not look at busy after its claim */
#define FORGET 8	/* a get that fails does not give back what it found */
#define LEN_FIRST 9	/* a put says the length before the row is written */
#define KEEP_LEN 10	/* the row is moved under its old length */
#define KEEP_MARK 11	/* reclaim leaves the mark of the dead */
#define STAY_SHUT 12	/* a taker that finds somebody inside leaves its claim */
#define WAIT 13		/* a taker waits for who is inside */
#define DROP_TRIMMED 14	/* what is over the depot's limit gets lost */
#define NEVER_PUSH 15	/* a slab whose word was 0 is not pushed */
#define NEVER_SHUT 16	/* an lcore does not look whether its cache is claimed */
#define LEAD_ON 17	/* own slabs: the last goes on leading to the node's list */

#define DO_GET 1
#define DO_PUT 2
#define DO_BLOCK 4
#define DO_TUNE 8
#define DO_RECLAIM 16

/* Numbers of processes, as in busy and shut. */
#define L0 1
#define L1 2
#define T 3
#define O 4
#define H 5
#define LCORES 2
#define NO_LCORE LCORES

/* Lists: of magazines, of slabs. */
#define FULL 0
#define PARTIAL 1
#define EMPTY 2
#define SLABS 3
#define SIFTED 4
#define WHOLE 5
#define LISTS 6

/* Ids: magazines from 1 on, then the two slabs. */
#define S1 (DEPOT + 1)
#define S2 (DEPOT + 2)
#define IDS (DEPOT + 3)

#define ALL ((1 << OBJECTS) - 1)
#define LOW ((1 << SLAB) - 1)
/* Objects of a slab, and whether the set is all that a slab has when it is a block. */
#define OF(slab) ((slab) == S1 -> LOW : ((slab) == S2 -> ALL & ~LOW : 0))
#define IS_WHOLE(slab, set) \
	((set) == OF(slab) && ((slab) == S1 || OBJECTS == 2 * SLAB))
#define COUNT(set) (((set) & 1) + ((set) >> 1 & 1) + ((set) >> 2 & 1) + ((set) >> 3 & 1) + \
	((set) >> 4 & 1) + ((set) >> 5 & 1))
#define IN(set, who) (((set) >> (who) & 1) != 0)

byte head[LISTS], linked[LISTS], next[IDS];
byte mag[IDS];		/* objects in magazines */
byte bits;		/* words of all slabs, one after the other */
byte nr_full, limit;
byte row[LCORES * CACHE], length[LCORES], own[LCORES];
byte shut[LCORES], busy[LCORES], stored[LCORES]; /* stored: is to become busy */

/* What the world knows. */
byte out;		/* objects that applications have */
byte owed;		/* objects that may be lost, since somebody was killed with them */
byte dead, deaths, died;
byte bound;		/* so many of them at most */
byte inside;		/* mask of who is in an operation */
bool quiet = true;	/* who is inside was alone from the start */
byte alone, steps;

/* For use within one step; 0 in between. */
byte x, y, most, seen, found, lost, fulls, kept, z;

#define TO_LEAVE 1
#define TO_PUT 2
#define TO_MOVE 3
#define TO_TAKE 4
#define TO_PARK 5

/* Where somebody was killed; and how many objects that may cost beside the n asked for or put. */
#define AT_REST 0	/* before anything was moved, or after */
#define AT_HANDS 1	/* with what was got so far or remains to be put */
#define AT_CACHE 2	/* a magazine's worth is in the row, and not said to be there */
#define AT_DEPOT 3	/* a magazine is off the lists */
#define AT_SLAB 4	/* a slab is off the lists */
#define AT_ROOM 5	/* the full row is being moved */
#define AT_TAKE 6	/* in the cache of another */
#define AT_OWN 7	/* some slabs are off the node's list */
#define CLASSES 8
#define LOST_AT (died == AT_REST -> 0 : (died == AT_HANDS -> SLAB : \
	(died == AT_CACHE -> MAGAZINE - 1 : (died == AT_DEPOT -> MAGAZINE : \
	(died == AT_SLAB -> SLAB + (op == DO_RECLAIM -> SLAB - 1 : 0) : \
	(died == AT_ROOM -> CACHE : (died == AT_TAKE -> SLAB - 1 : OWN * SLAB - 1)))))))

c_decl {
	static unsigned char
	parameter(const char *name)
	{
		const char *value = getenv(name);

		if (value == NULL) {
			fprintf(stderr, "%s is not set\n", name);
			exit(2);
		}
		return (unsigned char)atoi(value);
	}

	static unsigned int most_lost[8], deaths_at[8];

	static void
	saw_lost(unsigned int at, unsigned int lost)
	{
		unsigned int n = (unsigned int)__builtin_popcount(lost);

		if (n > most_lost[at])
			most_lost[at] = n;
	}

	static void __attribute__((destructor))
	say_lost(void)
	{
		unsigned int at;

		for (at = 0; at < 8; at++)
			if (deaths_at[at] != 0)
				printf("lost: %u %u\n", at, most_lost[at]);
	}
};

#include "check.pml"
#include "layers.pml"
#include "user.pml"
