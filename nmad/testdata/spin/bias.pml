/*
 * The biased lock of a private domain (nmad/internal/lock/lock.go): its owner takes it by a store and a look, with no barrier between them; other
 * threads, one at a time, claim it and have the owner's CPU pass a barrier. The owner's stores go through a buffer, as on amd64: a
 * step of the CPU, or a barrier, empties it. Stores and looks of the others are in order, for they use locked instructions.
 *
 * NO_BARRIER      the others do not have the owner's CPU pass a barrier
 * BARRIER_FIRST   they do before they claim
 * NO_LOOK         the owner does not look at the claim
 * NO_WAIT         the others do not wait until the owner is out
 * NO_TURNS        several others claim at once
 */
#define OTHERS 2

bit held;        /* in memory */
bit buffered;    /* the owner's CPU has a store of held that is not in memory yet */
bit value;       /* the value of that store */
bit claimed;
bit spin;        /* the lock among the others */
byte inside;     /* threads in the section */

inline store(v) {
	atomic {
		if
		:: buffered -> held = value
		:: else
		fi;
		value = v; buffered = 1
	}
}

inline barrier() {
	atomic {
		if
		:: buffered -> held = value; buffered = 0
		:: else
		fi
	}
}

inline section() {
	inside++;
	assert(inside == 1);
	inside--
}

active proctype cpu() {
end:	do
	:: atomic { buffered -> held = value; buffered = 0 }
	od
}

active proctype owner() {
	byte turns = 0;
	do
	:: turns < 3 ->
		turns++;
again:		store(1);
#ifndef NO_LOOK
		if
		:: claimed ->
			store(0);
			if
			:: goto again
			:: skip /* it was a try */
			fi
		:: !claimed ->
			section();
			store(0)
		fi
#else
		section();
		store(0)
#endif
	:: turns == 3 -> break
	od
}

active [OTHERS] proctype other() {
#ifndef NO_TURNS
	atomic { !spin -> spin = 1 };
#endif
#ifdef BARRIER_FIRST
	barrier();
#endif
	claimed = 1;
#ifndef NO_BARRIER
#ifndef BARRIER_FIRST
	barrier();
#endif
#endif
	if
#ifdef NO_WAIT
	:: section()
#else
	:: !held -> section()
	:: held -> skip /* it was a try */
#endif
	fi;
	claimed = 0;
	spin = 0
}
