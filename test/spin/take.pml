/* SPDX-License-Identifier: BSD-3-Clause */

/* From the caches of others. Part of User. */

	/* A get, or a block: from cache c, to the hands. */
take:
	if
	:: i == LCORES -> i = 0; c = 0; goto none
	:: i != LCORES && c == lc && as -> goto next_cache
	:: else
	fi;
	atomic { STEP(AT_HANDS) j = (length[c] != 0 || own[c] != 0 -> 1 : 0) };
	if
	:: j == 0 -> goto next_cache
	:: else -> j = 0
	fi;
	atomic {
		STEP(AT_HANDS)
		if
		:: shut[c] == 0 && MUTANT != CLAIM_TWICE -> shut[c] = me
		:: shut[c] == 0 && MUTANT == CLAIM_TWICE
		:: shut[c] != 0 -> goto next_cache
		fi
	};
	if
	:: MUTANT == CLAIM_TWICE -> atomic { STEP(AT_HANDS) shut[c] = me }
	:: else
	fi;
	if
	:: MUTANT != NO_FENCE -> atomic { STEP(AT_HANDS) d_step { fence() } }
	:: else
	fi;
look:
	atomic {
		STEP(AT_HANDS)
		if
		:: busy[c] == 0 || MUTANT == NOT_LOOKING
		:: busy[c] != 0 && MUTANT == WAIT -> goto look
		:: busy[c] != 0 && MUTANT != WAIT && MUTANT != NOT_LOOKING -> goto shut_out
		fi
	};
take_claimed:
	atomic {
		STEP(AT_HANDS)
		d_step {
			k = length[c];
			j = (op == DO_GET -> n - COUNT(got) : SLAB);
			j = ((k + 1) / 2 > j -> (k + 1) / 2 : j);
			j = (j < SLAB -> j : SLAB);
			j = (j < k -> j : k);
			in_row(c, k - j, k, t);
			k = k - j;
			j = 0
		}
	};
	if
	:: t != 0 -> atomic { STEP(AT_HANDS) length[c] = k }
	:: t == 0 && OWN != 0 ->
		atomic { STEP(AT_HANDS) s = own[c] };
		if
		:: s != 0 -> get_own()
		:: else
		fi
	:: else
	fi;
	k = 0;
	if
	:: op == DO_RECLAIM && t == 0 -> goto unmark
	:: op == DO_RECLAIM && t != 0 -> sp = t; t = 0; back = TO_TAKE; goto slabs_put
	:: else
	fi;
shut_out:
	atomic {
		STEP(AT_TAKE)
		if
		:: MUTANT != STAY_SHUT -> shut[c] = 0
		:: else
		fi
	};
	if
	:: t != 0 && op == DO_GET -> i = 0; c = 0; goto share_out
	:: t != 0 && op == DO_BLOCK -> sp = t; t = 0; back = TO_TAKE; goto slabs_put
	:: else
	fi;
next_cache:
	i = i + 1;
	c = 1 - c;
	goto take;
none:
	if
	:: op == DO_BLOCK -> goto block
	:: else
	fi;
failed:
	fail = true;
	sp = got;
	got = 0;
	back = TO_LEAVE;
	if
	:: MUTANT == FORGET -> sp = 0
	:: else
	fi;
	goto slabs_put;

