/*
 * A thread that waits in Go loses its OS thread, to the base of its LWP, while it may be woken
 * at that moment; its next call queues it, it parks, and the base goes on with it.
 *
 * watch.go: takeBack, giveBase    direct/switch_*.s: Repossess
 * co.go: Enter, regains, comeBack, rejoin    lwp.go: resume
 *
 * Memory is in order here; that of Enter against a taker is word.pml's.
 */
mtype = { waiting, scanned, runnable, running };
#define BORROWED 8
#define LOST     7

mtype g = waiting;
byte w = 1, id = 1;
bit inside, locked = 1, base, posted, parked, parking, done;
byte onM; /* goroutines that run on the OS thread */

proctype Waker() { atomic { g == waiting && !parking -> g = runnable } }

proctype Taker() {
	bit ok;
	w = w | BORROWED;
#ifdef NO_SCAN_BIT
	if :: g == waiting -> skip :: else -> goto no fi;
#else
	atomic { if :: g == waiting -> g = scanned :: else -> goto no fi }
#endif
	if :: !inside -> id = LOST; locked = 0; ok = 1 :: else fi;
#ifndef NO_SCAN_BIT
	g = waiting;
#endif
no:	w = 1;
	if :: ok -> base = 1 :: else fi
}

proctype Thread() {
	bit here;
	atomic { g == runnable -> g = running; here = locked; onM = onM + here; assert(onM <= 1) }
	inside = 1; /* Enter */
	if :: w == id -> goto mine :: else fi;
	(w == id || id == LOST);
	if :: w == id -> goto mine :: else fi;
	assert(!here); /* rejoin */
	parking = 1;
	posted = 1;
	atomic { g = waiting; parked = 1 }
	atomic { g == running -> skip }
mine:	atomic { done = 1; inside = 0; onM = 0 }
}

proctype Base() {
end:	atomic { base -> onM++; assert(onM <= 1) }
end2:	posted;
#ifndef NO_LOOK_WHETHER_PARKED
	parked;
#endif
	atomic { assert(g == waiting); id = 1; g = running }
}

init {
	atomic { run Waker(); run Taker(); run Thread(); run Base() }
	timeout -> assert(done && w == 1)
}
