/* SPDX-License-Identifier: BSD-3-Clause */

/* Blocks, tuning, reclaim. Part of User. */

	/* A block, twice: in between all that is free goes to its slab. */
block:
	pop(WHOLE, s, AT_REST);
	do
	:: s != 0 || i == 4 -> break
	:: else ->
		pop(SLABS + i / 2, s, AT_REST);
		if
		:: s == 0 -> i = (i < 2 -> 2 : 4)
		:: else ->
			atomic { STEP(AT_SLAB) f = IS_WHOLE(s, bits & OF(s)) };
			if
			:: f -> f = false; break
			:: else -> push(SIFTED - i / 2, s, AT_SLAB); i = i + 1
			fi
		fi
	od;
	i = 0;
	if
	:: s != 0 -> empty_slab(); got = t; t = 0; goto leave
	:: s == 0 && again -> goto failed
	:: else -> again = true
	fi;
empty_depot:
	if
	:: i < DEPOT -> i = i + 1; get_objects()
	:: else
	fi;
	if
	:: m == 0 -> i = 0; goto take
	:: else -> sp = mag[m]; mag[m] = 0; back = TO_PARK; goto slabs_put
	fi;

	/* The depot's limit is set; full magazines over it go to slabs. */
tune:
	atomic { STEP(AT_REST) limit = (limit == 0 -> DEPOT : 0) };
trim:
	if
	:: i == DEPOT -> goto leave
	:: else
	fi;
	atomic {
		STEP(AT_REST)
		if
		:: nr_full <= limit -> goto leave
		:: else
		fi
	};
	i = i + 1;
	get_full();
	if
	:: m == 0 -> goto leave
	:: else -> sp = (MUTANT == DROP_TRIMMED -> 0 : mag[m]); mag[m] = 0; back = TO_PARK
	fi;
	goto slabs_put;

	/* What the dead kept others from. */
reclaim:
	do
	:: c == LCORES -> break
	:: else ->
		atomic { STEP(AT_REST) was = shut[c]; mark = was };
		if
		:: was == 0 -> atomic { STEP(AT_REST) mark = busy[c] }
		:: else
		fi;
		f = IN(dead, mark);
		mark = 0;
		if
		:: f ->
			f = false;
			atomic {
				STEP(AT_REST)
				if
				:: shut[c] == was -> shut[c] = me; f = true
				:: else
				fi
			}
		:: else
		fi;
		if
		:: f ->
			f = false;
			atomic { STEP(AT_REST) mark = (IN(dead, busy[c]) -> busy[c] : 0) };
			atomic { STEP(AT_REST) d_step { fence() } };
			atomic {
				STEP(AT_REST)
				if
				:: busy[c] == 0 || busy[c] == mark || MUTANT == BLIND_RECLAIM ->
					goto take_claimed
				:: else -> shut[c] = was
				fi
			};
		:: else
		fi;
next_reclaim:
		was = 0;
		mark = 0;
		c = c + 1
	od;
	goto leave;
unmark:
	if
	:: mark != 0 && MUTANT != KEEP_MARK ->
		atomic { STEP(AT_REST) busy[c] = (busy[c] == mark -> 0 : busy[c]) }
	:: else
	fi;
	atomic { STEP(AT_REST) shut[c] = 0 };
	goto next_reclaim;

