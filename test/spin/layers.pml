/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What users of the pool do in depot and slabs, step by step as lib/slab does. The rest is in
 * user.pml and what that includes: where lib/slab calls a function from several places, the steps
 * stand there once, and the operation or "back" says where they lead.
 */

#define STEP(where) \
	(alone == 0 || alone == me); \
	steps = steps + (alone != 0 -> 1 : 0); \
	assert(steps < MOST_STEPS); \
	if \
	:: IN(MORTAL, me) && deaths < DEATHS -> deaths++; at = where; goto killed \
	:: true \
	fi;

/* Where the first of a list leads is read with the head: whether that counts, the tag says. */
#define READ(list) \
	d_step { \
		old = head[list]; \
		to = next[old]; \
		linked[list] = (old == 0 -> linked[list] & ~(1 << me) : linked[list] | 1 << me) \
	}
#define SAME(list) (head[list] == old && (MUTANT == NO_TAG || IN(linked[list], me)))

/* Take the first of a list; none: what stays 0. */
inline pop(list, what, where)
{
	atomic { STEP(where) READ(list) };
	do
	:: old == 0 -> break
	:: else ->
		atomic {
			STEP(where)
			if
			:: SAME(list) ->
				d_step {
					head[list] = to;
					linked[list] = 0;
					what = old;
					old = 0;
					to = 0
				};
				break
			:: else -> READ(list)
			fi
		}
	od
}

/* Up to OWN of the partial slabs at once. The second leads to none before anybody else sees it. */
inline pop_some()
{
	atomic { STEP(AT_REST) READ(SLABS) };
	do
	:: old == 0 -> break
	:: else ->
		atomic {
			STEP(AT_REST)
			if
			:: SAME(SLABS) ->
				d_step {
					s = old;
					i = (OWN > 1 && to != 0 -> 2 : 1);
					head[SLABS] = (i == 2 -> next[to] : to);
					linked[SLABS] = 0;
					x = (i == 2 -> to : s);
					next[x] = (MUTANT == LEAD_ON -> head[SLABS] : 0);
					x = 0;
					old = 0;
					to = 0
				};
				break
			:: else -> READ(SLABS)
			fi
		}
	od
}

/* Put what was taken off a list, or never was on one, on it; then it is in nobody's hands. */
inline push(list, what, where)
{
	atomic {
		STEP(where)
		d_step { old = head[list]; next[what] = old }
	};
	do
	:: atomic {
		STEP(where)
		if
		:: head[list] == old -> d_step { head[list] = what; what = 0; old = 0 }; break
		:: else -> d_step { old = head[list]; next[what] = old }
		fi
	}
	od
}

/* To where the magazine in hand belongs. */
inline park()
{
	l = (COUNT(mag[m]) == MAGAZINE -> FULL : (mag[m] == 0 -> EMPTY : PARTIAL));
	if
	:: l == FULL -> atomic { STEP(AT_DEPOT) nr_full++ }
	:: else
	fi;
	push(l, m, AT_DEPOT);
	l = 0
}

inline get_full()
{
	pop(FULL, m, AT_REST);
	if
	:: m != 0 -> atomic { STEP(AT_DEPOT) nr_full-- }
	:: else
	fi
}

inline get_objects()
{
	pop(PARTIAL, m, AT_REST);
	if
	:: m == 0 -> get_full()
	:: else
	fi
}

inline get_room(where)
{
	atomic { STEP(where) f = (nr_full < limit) };
	if
	:: f ->
		f = false;
		pop(PARTIAL, m, where);
		if
		:: m == 0 -> pop(EMPTY, m, where)
		:: else
		fi
	:: else
	fi
}

/* A partial slab, or else a whole one; what became whole among partial ones is put aside, once. */
inline pop_any()
{
	pop(SLABS, s, AT_REST);
	if
	:: s != 0 ->
		atomic { STEP(AT_SLAB) f = IS_WHOLE(s, bits & OF(s)) };
		if
		:: f ->
			f = false;
			push(WHOLE, s, AT_SLAB);
			pop(SLABS, s, AT_REST)
		:: else
		fi
	:: else
	fi;
	if
	:: s == 0 -> pop(SIFTED, s, AT_REST)
	:: else
	fi;
	if
	:: s == 0 -> pop(WHOLE, s, AT_REST)
	:: else
	fi
}

/* All of slab s, which was popped, into the hands. */
inline empty_slab()
{
	atomic {
		STEP(AT_SLAB)
		d_step {
			assert((bits & OF(s)) != 0);
			t = bits & OF(s);
			bits = bits & ~OF(s);
			s = 0
		}
	}
}

/* The first of cache c's own slabs, which is s. */
inline get_own()
{
	atomic { STEP(AT_REST) own[c] = next[s] };
	empty_slab()
}
