/* SPDX-License-Identifier: BSD-3-Clause */

#define CAN_GET ((may & DO_GET) && COUNT(held) < OBJECTS)
#define CAN_PUT ((may & DO_PUT) && held != 0)
#define CAN_BLOCK ((may & DO_BLOCK) && held == 0)
#define CAN_RECLAIM ((may & DO_RECLAIM) && dead != 0)

proctype User(byte me, lc, may, held)
{
	byte n;		/* asked for, or put */
	byte got, hand;	/* found so far; to be put, or to be shared out */
	byte t;		/* taken, for the hands */
	byte sp;	/* to be put to slabs */
	byte r;		/* in the row, and not said to be there */
	byte m, s;	/* magazine and slab in hand */
	byte l, old, to; /* a list, its first, and where that leads */
	byte i, j, k;
	byte c;		/* which cache */
	byte at;	/* where it was killed */
	byte was, mark;	/* shut and busy of it */
	byte op, back, left = (me == L0 -> OPERATIONS : OTHERS);
	bool as;	/* an lcore that has its cache */
	bool f, fail, again;

end_idle:
	atomic {
		alone == 0 && left != 0 && (me != H || IN(dead, L0)) && (CAN_GET || CAN_PUT ||
			CAN_BLOCK || (may & DO_TUNE) || CAN_RECLAIM);
		if
		:: CAN_GET ->
			op = DO_GET;
			if
			:: n = 1
			:: COUNT(held) + MOST_AT_ONCE <= OBJECTS -> n = MOST_AT_ONCE
			fi
		:: CAN_PUT ->
			op = DO_PUT;
			if
			:: n = 1
			:: COUNT(held) >= MOST_AT_ONCE -> n = MOST_AT_ONCE
			fi;
			d_step {
				most = n;
				lowest(held, hand);
				held = held & ~hand;
				out = out & ~hand
			}
		:: CAN_BLOCK -> op = DO_BLOCK; n = SLAB
		:: may & DO_TUNE -> op = DO_TUNE
		:: CAN_RECLAIM -> op = DO_RECLAIM
		fi;
		d_step {
			left--;
			quiet = (inside == 0);
			inside = inside | 1 << me
		};
		if
		:: op == DO_BLOCK -> goto block
		:: op == DO_TUNE -> goto tune
		:: op == DO_RECLAIM -> goto reclaim
		:: else
		fi
	};
	if
	:: lc == NO_LCORE -> goto go_on
	:: else
	fi;

	/* An lcore: the fast way, or why not. */
	atomic {
		STEP(AT_REST)
		if
		:: busy[lc] = me
		:: stored[lc] = me
		fi
	};
	atomic { STEP(AT_REST) as = (MUTANT == NEVER_SHUT || shut[lc] == 0) };
	if
	:: !as -> goto slow
	:: else
	fi;
	atomic {
		STEP(AT_REST)
		k = length[lc];
		if
		:: op == DO_GET && n <= k -> d_step { in_row(lc, k - n, k, t) }
		:: op == DO_PUT && k + n <= CACHE && MUTANT != LEN_FIRST ->
			d_step { to_row(lc, k, hand) }
		:: op == DO_PUT && k + n <= CACHE && MUTANT == LEN_FIRST -> length[lc] = k + n
		:: else -> k = 0; goto slow
		fi
	};
	atomic {
		STEP(AT_REST)
		d_step {
			if
			:: op == DO_GET -> length[lc] = k - n; got = t; t = 0
			:: op == DO_PUT && MUTANT != LEN_FIRST -> length[lc] = k + n; hand = 0
			:: else -> to_row(lc, k, hand); hand = 0
			fi;
			k = 0
		};
		goto leave
	};

slow:
	atomic {
		STEP(AT_REST)
		as = (MUTANT == NEVER_SHUT || shut[lc] == 0)
	};
	if
	:: as -> goto go_on
	:: else
	fi;
	atomic { STEP(AT_REST) d_step { busy[lc] = 0; stored[lc] = 0 } };

#include "get.pml"
#include "take.pml"
#include "put.pml"
#include "aside.pml"

leave:
	atomic {
		STEP(AT_HANDS)
		d_step {
			if
			:: lc != NO_LCORE && (op == DO_GET || op == DO_PUT) ->
				busy[lc] = 0;
				stored[lc] = 0
			:: else
			fi;
			assert(fail || (out & got) == 0);
			assert(fail || COUNT(got) == (op == DO_PUT -> 0 : n));
			held = held | got;
			out = out | got;
			inside = inside & ~(1 << me);
			if
			:: inside == 0 -> check()
			:: else
			fi;
			if
			:: quiet && inside == 0 -> check_alone()
			:: else
			fi;
			alone = (alone == me -> 255 : alone);
			forget()
		}
		goto end_idle
	};

killed:
	atomic {
		d_step {
			if
			:: lc != NO_LCORE && stored[lc] == me -> busy[lc] = me; stored[lc] = 0
			:: else
			fi;
			died = (r != 0 && at != AT_CACHE -> AT_ROOM : at);
			at = 0;
			hand = got | hand | sp | t | r | mag[m] | OF(s);
			hand = hand | (died == AT_OWN -> ALL : 0);
			bound = bound + n + LOST_AT;
			owed = owed | hand;
			x = 0;
			do
			:: x < LISTS -> linked[x] = linked[x] & ~(1 << me); x++
			:: else -> break
			od;
			x = 0;
			dead = dead | 1 << me;
			c_code { deaths_at[now.died]++; };
			quiet = false;
			inside = inside & ~(1 << me);
			if
			:: inside == 0 -> check()
			:: else
			fi;
			held = 0;
			left = 0;
			forget()
		}
	}
}

#define START(who, lcore, does, holds) \
	if \
	:: does != 0 -> run User(who, lcore, does, holds) \
	:: else \
	fi

init
{
	atomic {
		READ_PARAMETERS;
		d_step { begin() };
		START(L0, 0, LCORE_0, HELD);
		START(L1, 1, LCORE_1, 0);
		START(T, NO_LCORE, THREAD, 0);
		START(O, NO_LCORE, OTHER, 0);
		START(H, 0, HEIR, 0);
		/* From some moment on one of those inside goes on alone. */
		if
		:: ALONE == 0 -> goto over
		:: ALONE != 0 && IN(inside, L0) -> alone = L0
		:: ALONE != 0 && IN(inside, L1) -> alone = L1
		:: ALONE != 0 && IN(inside, T) -> alone = T
		:: timeout -> goto over
		fi;
		timeout -> assert(alone == 255);
over:
		skip
	}
}
