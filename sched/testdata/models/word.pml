/*
 * The word of a VP: who holds it, who borrows it, and that no thread that was made ready is
 * left behind when it is free.
 *
 * word.go: claim, release, lend, giveBack, borrow    co.go: Enter, Leave, regains, comeBack
 * fence.go: fence    rest.go: call, arrived, push, pop    vp.go: post, release, nudge, call
 * lwp.go: obtain, serve, sleep    thread.go: Blocking
 *
 * One VP, two LWPs that are its spares at first, two threads posted from outside, of
 * which one blocks once without the VP, and one taker that steals. An LWP and what it runs
 * share one co here: inside is true while it is in its base. A co's store to inside lies in a
 * store buffer of one entry until the CPU drains it; atomic operations and membarrier drain it.
 * If all LWPs are busy, who calls one waits for a spare, where the code makes one.
 */
#define L 2
#define T 2
#define LENT 8
#define GONE 9

byte w, cur, tick;
bit inside[L+1], pend[L+1], val[L+1]; /* 0: nobody */
byte q, inbox;                        /* sets of threads */
bit called;
bit spare[L+1], wake[L+1];
byte on[T], blocked, done, users;

#define drain(p) if :: pend[p] -> inside[p] = val[p]; pend[p] = 0 :: else fi
#define store(p, x) atomic { !pend[p] -> pend[p] = 1; val[p] = x }

inline use() { users++; assert(users == 1) }

/* vp.nudge and vp.call */
inline nudge(p) {
	if
	:: w == 0 ->
		if
		:: (q | inbox) != 0 ->
			atomic {
				drain(p);
				if
				:: called -> skip
				:: else -> called = 1; goLooking = 1
				fi
			}
			if
			:: goLooking ->
				atomic {
					if
					:: spare[1] -> s = 1
					:: spare[2] -> s = 2
					fi;
					spare[s] = 0; goLooking = 0
				}
				atomic { wake[s] = 1; s = 0 }
			:: else
			fi
		:: else
		fi
	:: else
	fi
}

inline post(p, i) {
	atomic { drain(p); inbox = inbox | (1 << i) }
	nudge(p)
}

/* vp.release */
inline release(p) {
	cur = 0;
	atomic { w == p -> drain(p); w = 0 }
#ifndef NO_LOOK_AFTER_RELEASE
	nudge(p)
#endif
}

inline claim(p) {
	atomic {
		drain(p);
		if
		:: w == 0 -> w = p; got = 1
		:: else -> got = 0
		fi
	}
	if :: got -> cur = p :: else fi
}

inline take() {
	q = q | inbox; /* the exchange of collect */
	inbox = 0;
	if
	:: q & 1 -> t = 0; q = q & ~1
	:: !(q & 1) && (q & 2) -> t = 1; q = q & ~2
	:: else -> t = GONE
	fi
}

proctype Lwp(byte me) {
	byte t, s;
	bit got, goLooking;

asleep:
end:	atomic { wake[me] -> wake[me] = 0 }
#ifndef LATE_ARRIVED
	atomic { drain(me); called = 0 }
#endif
	if
	:: (q | inbox) != 0 -> claim(me)
	:: else -> got = 0
	fi;
#ifdef LATE_ARRIVED
	atomic { drain(me); called = 0 }
#endif
	if
	:: got -> goto serve
	:: else -> atomic { spare[me] = 1 }
#ifdef LATE_ARRIVED /* with the look of sleep, a late end of the call alone does no harm */
		goto asleep
#else
		nudge(me); goto asleep
#endif
	fi;

serve:	use();
	atomic { take() }
	users--;
	if
	:: t == GONE ->
		spare[me] = 1;
		release(me);
		goto asleep
	:: else
	fi;
	atomic { assert(on[t] == 0); on[t] = me; tick++ }

outside:
	store(me, 0); /* Leave */
	store(me, 1); /* Enter */
	if
	:: w == me
	:: else -> /* comeBack, regains */
		atomic { drain(me); inside[me] = 1 }
		w == me
	fi;
	if
	:: !(blocked & (1 << t)) -> /* Blocking */
		atomic { blocked = blocked | (1 << t) }
		use();
		users--;
		release(me);
		store(me, 0);
		store(me, 1);
		atomic { drain(me) } /* announce */
		assert((w & 7) != me);
		claim(me);
		if
		:: got -> goto outside
		:: else -> /* opHand: its base posts it, as a spare */
			spare[me] = 1;
			on[t] = 0;
			post(me, t);
			goto asleep
		fi
	:: else ->
		use();
		atomic { on[t] = 0; done++ }
		users--;
		goto serve
	fi
}

/* A CPU drains the store buffer of the LWP on it when it likes. */
proctype Cpu(byte p) {
end:	do
	:: atomic { pend[p] -> drain(p) }
	od
}

proctype Goroutine() {
	byte s;
	bit goLooking;
	post(0, 0);
	post(0, 1)
}

/* A thief of another VP: word.borrow, giveBack. */
proctype Taker() {
	byte old, c, was, t, s;
	bit goLooking;

	old = w;
	if
	:: old & LENT -> goto out
	:: else
	fi;
	atomic {
		if
		:: w == old -> w = old | LENT
		:: else -> goto out
		fi
	}
	if
	:: old == 0 -> goto mine
	:: else
	fi;
#ifndef NO_BARRIER
	d_step { drain(1); drain(2) }
#endif
	was = tick;
	c = cur;
#ifndef NO_INSIDE_CHECK
	if
	:: inside[c] -> w = old; goto out
	:: else
	fi;
#endif
	if
	:: cur != c || tick != was -> w = old; goto out
	:: else
	fi;
mine:	use();
	atomic { take() }
	users--;
	w = old;
#ifndef NO_LOOK_AFTER_GIVEBACK
	if
	:: old == 0 -> nudge(0)
	:: else
	fi;
#endif
	if
	:: t != GONE -> atomic { assert(on[t] == 0); done++; t = 0 }
	:: else
	fi;
out:	skip
}

init {
	atomic {
		inside[0] = 1;
		inside[1] = 1; inside[2] = 1; blocked = 2;
		spare[1] = 1; spare[2] = 1;
		run Lwp(1); run Lwp(2);
		run Cpu(1); run Cpu(2);
		run Goroutine(); run Taker()
	}
	/* Nothing moves any more: each thread has run to its end, and the VP is free. */
	timeout -> assert(done == T && w == 0)
}
