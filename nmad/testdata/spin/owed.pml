/*
 * What threads leave at the gates of a domain that has one lock for all of them (nmad/internal/lock/lock.go, submit.go). A thread that finds the lock held leaves its request in
 * the inbox of its gate, and goes away. The holder may be busy with another gate; owed tells it to look at all of them after it has let the lock go. No
 * request is left behind when all threads have gone.
 *
 * NO_OWED      the thread that goes away does not set owed
 * NO_RETRY     it does not try the lock again after that
 * NO_LAST_LOOK the thread that tends the gates does not look whether something is owed again
 * CLEAR_LATE   it clears owed after it has looked at the gates
 */
#define GATES 2
#define STARTERS 3

bit locked, owed, tending;
bit inbox[GATES];

inline try(got) { atomic { got = !locked; locked = 1 } }

/* handle, and let the lock go: what lies at gate g then, too. The caller has the lock. */
inline letGo(g, got) {
	inbox[g] = 0;
	locked = 0;
	do
	:: inbox[g] ->
		try(got);
		if
		:: got -> inbox[g] = 0; locked = 0
		:: else -> break
		fi
	:: else -> break
	od
}

/* Gate.tend, without what follows letGo */
inline tendGate(g, got) {
	try(got);
#ifndef NO_OWED
	if
	:: !got ->
		owed = 1;
#ifndef NO_RETRY
		try(got)
#endif
	:: else
	fi;
#endif
	did = got;
	if
	:: got -> letGo(g, got)
	:: else
	fi
}

/* domainLock.tend, which follows each letGo; one inside of another finds tending set */
inline tendAll(got, k) {
	do
	:: !owed -> break
	:: else ->
		atomic { got = !tending; tending = 1 };
		if
		:: !got -> break
		:: else
		fi;
#ifndef CLEAR_LATE
		owed = 0;
#endif
		k = 0;
		do
		:: k < GATES -> tendGate(k, got); k++
		:: else -> break
		od;
#ifdef CLEAR_LATE
		owed = 0;
#endif
		tending = 0;
#ifdef NO_LAST_LOOK
		break;
#endif
		try(got);
		if
		:: !got -> break
		:: else -> locked = 0
		fi
	od
}

byte gone;

active [STARTERS] proctype starter() {
	bit got, did;
	byte k, g;
	g = _pid % GATES;
	try(got);
	if
	:: got -> letGo(g, got); tendAll(got, k)   /* it starts its request itself */
	:: else ->
		inbox[g] = 1;
		tendGate(g, got);
		if
		:: did -> tendAll(got, k)
		:: else
		fi
	fi;
	gone++
}

active proctype end() {
	gone == STARTERS;
	assert(!inbox[0] && !inbox[1])
}
