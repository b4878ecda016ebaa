/*
 * A worker and the threads that leave requests for it (nmad/worker.go, begin.go). A starter puts its request into the inbox, says that something is
 * owed, and rings, unless the bell was rung already. The worker takes the bell down, looks whether something is owed, and else sleeps until it is rung. All
 * requests are handled, whichever way the steps fall; a worker that is told to end does so.
 *
 * LOOK_FIRST      the worker looks before it takes the bell down
 * RING_FIRST      a starter rings before it says that something is owed
 * NO_RING         it does not ring
 * CLEAR_LATE      the worker takes owed back after it has looked at the inbox
 * END_FIRST       it looks whether it is to end before it takes the bell down
 */
#define STARTERS 3

bit rung, owed, ending;
byte inbox, handled, gone;

inline handle() {
#ifndef CLEAR_LATE
	owed = 0;
#endif
	atomic { handled = handled + inbox; inbox = 0 }
#ifdef CLEAR_LATE
	;
	owed = 0
#endif
}

active proctype worker() {
	do
	:: true ->
#ifdef END_FIRST
		if
		:: ending -> break
		:: else
		fi;
#endif
#ifdef LOOK_FIRST
		if
		:: owed -> handle()
		:: else
		fi;
#endif
		rung = 0;
#ifndef END_FIRST
		if
		:: ending -> break
		:: else
		fi;
#endif
#ifndef LOOK_FIRST
		if
		:: owed -> handle(); goto next
		:: else
		fi;
#endif
		rung; /* it sleeps until then */
next:		skip
	od
}

active [STARTERS] proctype starter() {
	inbox++;
#ifdef RING_FIRST
	if
	:: !rung -> rung = 1
	:: else
	fi;
#endif
	owed = 1;
#ifndef RING_FIRST
#ifndef NO_RING
	if
	:: !rung -> rung = 1
	:: else
	fi;
#endif
#endif
	gone++
}

active proctype closer() {
	handled == STARTERS; /* their owners have seen it */
	ending = 1;
	rung = 1
}
