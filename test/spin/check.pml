/* SPDX-License-Identifier: BSD-3-Clause */

/* The lowest of a set, as many as "most" says, or all. */
inline lowest(set, found_there)
{
	found_there = 0;
	x = 0;
	do
	:: x < OBJECTS && most != 0 ->
		most = most - (set >> x & 1);
		found_there = found_there | (set & 1 << x);
		x++
	:: else -> break
	od;
	most = 0;
	x = 0
}

/* Objects in the row of cache c from position a to below b. */
inline in_row(c, a, b, to)
{
	to = 0;
	x = a;
	do
	:: x < b -> to = to | 1 << row[c * CACHE + x]; x++
	:: else -> break
	od;
	x = 0
}

/* Write a set to the row from position a on. */
inline to_row(c, a, set)
{
	x = 0;
	y = a;
	do
	:: x < OBJECTS ->
		if
		:: IN(set, x) -> row[c * CACHE + y] = x; y++
		:: else
		fi;
		x++
	:: else -> break
	od;
	x = 0;
	y = 0
}

inline fence()
{
	x = 0;
	do
	:: x < LCORES ->
		if
		:: stored[x] != 0 -> busy[x] = stored[x]; stored[x] = 0
		:: else
		fi;
		x++
	:: else -> break
	od;
	x = 0
}

/* One more place that holds objects, none of which was seen before. */
#define ADD_PLACE(set) assert((seen & (set)) == 0); seen = seen | (set)

inline look_at_list(list)
{
	y = head[list];
	do
	:: y == 0 -> break
	:: else ->
		assert(!IN(found, y));
		found = found | 1 << y;
		if
		:: list <= EMPTY ->
			assert(list == EMPTY || mag[y] != 0);
			assert((COUNT(mag[y]) == MAGAZINE) == (list == FULL));
			fulls = fulls + (list == FULL -> 1 : 0);
			assert(list != EMPTY || mag[y] == 0);
			ADD_PLACE(mag[y])
		:: else ->
			assert((bits & OF(y)) != 0);
			ADD_PLACE(bits & OF(y))
		fi;
		y = next[y]
	od
}

/* When nobody is inside, only the dead keep others from a cache. */
#define IS_KEPT(c) (shut[c] != 0 || busy[c] != 0)

inline look_at_cache(c)
{
	assert(shut[c] == 0 || IN(dead, shut[c]));
	assert(busy[c] == 0 || IN(dead, busy[c]));
	z = seen;
	x = 0;
	do
	:: x < length[c] ->
		ADD_PLACE(1 << row[c * CACHE + x]);
		x++
	:: else -> break
	od;
	y = own[c];
	do
	:: y == 0 -> break
	:: else ->
		assert(!IN(found, y));
		found = found | 1 << y;
		assert((bits & OF(y)) != 0);
		ADD_PLACE(bits & OF(y));
		y = next[y]
	od;
	kept = kept | (IS_KEPT(c) -> seen & ~z : 0)
}

/*
 * Conservation, I1 and I3; seen is then what rests in the pool. Only after a death may slabs and
 * magazines be on no list. Objects of those, and in hands that died, are lost, and no others.
 */
inline check()
{
	seen = 0;
	found = 0;
	fulls = 0;
	kept = 0;
	z = 0;
	do
	:: z < LISTS -> look_at_list(z); z++
	:: else -> break
	od;
	look_at_cache(0);
	look_at_cache(1);
	assert((seen & out) == 0);
	lost = ALL & ~(seen | out);
	assert((lost & ~owed) == 0);
	assert(COUNT(lost) <= bound);
	c_code { saw_lost(now.died, now.lost); };
	assert(deaths != 0 || (bits & OF(S1)) == 0 || IN(found, S1));
	assert(deaths != 0 || (bits & OF(S2)) == 0 || IN(found, S2));
	assert(deaths != 0 || (found & ((1 << S1) - 2)) == (1 << S1) - 2);
	assert(nr_full >= fulls && nr_full <= fulls + deaths);
}

/*
 * Who was alone, from the start to the end, finds all there is: free objects and whole slabs, what
 * the dead kept, what is over the limit. After check(), which leaves seen, kept and fulls.
 */
inline check_alone()
{
	seen = seen & ~kept;
	assert(!fail || op != DO_GET || COUNT(seen) < n);
	assert(!fail || op != DO_BLOCK || !IS_WHOLE(S1, seen & OF(S1)));
	assert(!fail || op != DO_BLOCK || !IS_WHOLE(S2, seen & OF(S2)));
	assert(op != DO_RECLAIM || !IS_KEPT(0) && !IS_KEPT(1));
	assert(op != DO_TUNE || fulls <= limit)
}

/*
 * How it begins. All free, in slabs; or lcore 0 has a full cache; or both slabs are free in part;
 * or the first magazine is full. Objects that are nowhere lcore 0 has got.
 */
#define HELD (SCENE == 0 -> 0 : (SCENE == 1 -> ALL & ~((1 << CACHE) - 1) : \
	(SCENE == 2 -> 1 | 1 << (OBJECTS - 1) : ALL & ~((1 << MAGAZINE) - 1))))

inline begin()
{
	y = 1;
	do
	:: y < S1 -> next[y] = (y + 1 < S1 -> y + 1 : 0); y++
	:: else -> break
	od;
	y = 0;
	head[EMPTY] = 1;
	out = HELD;
	limit = LIMIT;
	if
	:: SCENE == 0 ->
		bits = ALL;
		head[WHOLE] = S1;
		if
		:: IS_WHOLE(S2, OF(S2)) -> next[S1] = S2
		:: else -> head[SLABS] = S2
		fi
	:: SCENE == 1 ->
		to_row(0, 0, (1 << CACHE) - 1);
		length[0] = CACHE
	:: SCENE == 2 ->
		bits = ALL & ~out;
		head[SLABS] = S1;
		next[S1] = S2
	:: SCENE == 3 ->
		mag[1] = (1 << MAGAZINE) - 1;
		head[EMPTY] = next[1];
		next[1] = 0;
		head[FULL] = 1;
		nr_full = 1
	fi
}

/* The rest of a row becomes its beginning. */
inline to_front(c, from)
{
	x = from;
	do
	:: x < CACHE -> row[c * CACHE + x - from] = row[c * CACHE + x]; x++
	:: else -> break
	od;
	x = 0
}

/* What is over with an operation is over with its variables. */
inline forget()
{
	l = 0; n = 0; got = 0; hand = 0; t = 0; sp = 0; r = 0; m = 0; s = 0; old = 0; to = 0;
	x = 0; y = 0; z = 0; seen = 0; found = 0; lost = 0; fulls = 0; kept = 0;
	i = 0; j = 0; k = 0; c = 0; was = 0; mark = 0; op = 0; back = 0;
	as = false; f = false; fail = false; again = false
}
