/* SPDX-License-Identifier: BSD-3-Clause */

/* Put, and what a get found too much: cache, depot, slabs. Part of User. */

share_out:
	atomic {
		d_step {
			most = n - COUNT(got);
			lowest(t, j);
			hand = t & ~j;
			got = got | j;
			t = 0;
			j = 0
		};
		goto go_on
	};

put_more:
	if
	:: hand == 0 && op == DO_PUT -> goto leave
	:: hand == 0 && op != DO_PUT -> goto go_on
	:: else
	fi;
	if
	:: as && COUNT(hand) < MAGAZINE ->
		atomic {
			STEP(AT_HANDS)
			k = length[lc];
			if
			:: k == CACHE -> k = 0; goto room
			:: else ->
				d_step {
					most = CACHE - k;
					lowest(hand, t);
					to_row(lc, k, t)
				}
			fi
		};
		atomic {
			STEP(AT_HANDS)
			d_step { length[lc] = k + COUNT(t); hand = hand & ~t; t = 0; k = 0 };
			goto put_more
		}
	:: else
	fi;
	get_room(AT_HANDS);
	if
	:: m != 0 ->
		d_step {
			most = MAGAZINE - COUNT(mag[m]);
			lowest(hand, t);
			mag[m] = mag[m] | t;
			hand = hand & ~t;
			t = 0
		};
		park()
	:: else -> sp = hand; hand = 0; back = TO_PUT; goto slabs_put
	fi;
	goto put_more;

	/* A magazine's worth leaves the full row, which counts for nothing meanwhile. */
room:
	atomic {
		STEP(AT_HANDS)
		if
		:: MUTANT != PARK_FIRST && MUTANT != KEEP_LEN ->
			d_step { length[lc] = 0; in_row(lc, 0, CACHE, r) }
		:: else
		fi
	};
	get_room(AT_ROOM);
	atomic {
		STEP(AT_ROOM)
		d_step {
			k = (m != 0 -> MAGAZINE - COUNT(mag[m]) : MAGAZINE);
			in_row(lc, 0, k, t);
			mag[m] = (m != 0 -> mag[m] | t : 0);
			sp = (m != 0 -> 0 : t);
			t = 0
		}
	};
	if
	:: (EARLY || MUTANT == PARK_FIRST) && m != 0 -> park()
	:: (EARLY || MUTANT == PARK_FIRST) && m == 0 -> back = TO_MOVE; goto slabs_put
	:: else
	fi;
move:
	atomic { STEP(AT_ROOM) d_step { to_front(lc, k) } };
	atomic { STEP(AT_ROOM) d_step { length[lc] = CACHE - k; r = 0; k = 0 } };
	if
	:: m != 0 -> park()
	:: else -> back = TO_PUT; goto slabs_put
	fi;
	goto put_more;

slabs_put:
	do
	:: sp == 0 -> break
	:: else ->
		atomic {
			STEP(AT_HANDS)
			d_step {
				s = (sp & LOW -> S1 : S2);
				j = sp & OF(s);
				assert((bits & j) == 0);
				f = IS_WHOLE(s, j);
				sp = sp & ~j;
				s = ((bits & OF(s)) != 0 && MUTANT != ALWAYS_PUSH ||
					MUTANT == NEVER_PUSH -> 0 : s);
				bits = bits | j;
				j = 0
			}
		};
		if
		:: s != 0 && f -> push(WHOLE, s, AT_SLAB)
		:: s != 0 && !f -> push(SLABS, s, AT_SLAB)
		:: else
		fi;
		f = false
	od;
	if
	:: back == TO_LEAVE -> goto leave
	:: back == TO_PUT -> goto put_more
	:: back == TO_MOVE -> goto move
	:: back == TO_TAKE && op == DO_BLOCK -> goto take
	:: back == TO_TAKE && op == DO_RECLAIM -> goto take_claimed
	:: back == TO_PARK ->
		park();
		if
		:: op == DO_TUNE -> goto trim
		:: else -> goto empty_depot
		fi
	fi;

