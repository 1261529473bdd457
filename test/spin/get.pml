/* SPDX-License-Identifier: BSD-3-Clause */

/* Get: own cache, depot, slabs. Part of User. */

go_on:
	if
	:: op == DO_PUT || hand != 0 -> goto put_more
	:: op == DO_GET && hand == 0 && COUNT(got) == n -> goto leave
	:: else
	fi;

	/* Get: the own cache. */
	if
	:: as ->
		atomic {
			STEP(AT_HANDS)
			d_step {
				k = length[lc];
				j = (k < n - COUNT(got) -> k : n - COUNT(got));
				in_row(lc, k - j, k, t)
			}
		};
		if
		:: t != 0 ->
			atomic {
				STEP(AT_HANDS)
				d_step { length[lc] = k - j; got = got | t; t = 0; j = 0; k = 0 };
				goto go_on
			}
		:: else -> j = 0; k = 0
		fi
	:: else
	fi;

	/* The depot. */
	get_objects();
	if
	:: m != 0 && as && n - COUNT(got) < MAGAZINE ->
		atomic {
			STEP(AT_DEPOT)
			d_step { to_row(lc, 0, mag[m]); r = mag[m]; mag[m] = 0 }
		};
		atomic { STEP(AT_CACHE) d_step { length[lc] = COUNT(r); r = 0 } };
		park();
		goto go_on
	:: m != 0 && !(as && n - COUNT(got) < MAGAZINE) ->
		d_step {
			most = n - COUNT(got);
			lowest(mag[m], t);
			mag[m] = mag[m] & ~t;
			got = got | t;
			t = 0
		};
		park();
		goto go_on
	:: else
	fi;

	/* Slabs: own ones, then the node's. */
	if
	:: as && OWN != 0 ->
		atomic { STEP(AT_HANDS) s = own[lc] };
		if
		:: s == 0 ->
			pop_some();
			if
			:: s != 0 ->
				atomic { STEP(AT_OWN) own[lc] = s; i = 0 }
			:: else
			fi
		:: else
		fi;
		if
		:: s != 0 -> c = lc; get_own(); c = 0
		:: else
		fi
	:: else
	fi;
	if
	:: t == 0 ->
		pop_any();
		if
		:: s != 0 -> empty_slab()
		:: else
		fi
	:: else
	fi;
	if
	:: t != 0 -> goto share_out
	:: else
	fi;

	/* The caches of others, the one that seems fullest first. */
	atomic {
		STEP(AT_HANDS)
		d_step { c = (length[1] > length[0] -> 1 : 0); i = 0 }
	};
	goto take;

