/*
 * A worker and the threads that leave requests for it (nmad/worker.go, submit.go). A starter puts its request into the inbox, says that something is
 * owed, and rings, unless the bell rings already. The worker takes the bell down, looks whether something is owed, and else sleeps until it rings. All
 * requests are handled, whichever way the steps fall; a worker that is told to end does so, at any time: it gives up its lock, and looks for the last time. A starter that finds
 * the lock given up handles what is there itself.
 *
 * LOOK_FIRST      the worker looks before it takes the bell down
 * RING_FIRST      a starter rings before it says that something is owed
 * NO_RING         it does not ring
 * CLEAR_LATE      the worker takes owed back after it has looked at the inbox
 * END_FIRST       it looks whether it is to end before it takes the bell down
 * GIVE_UP_LATE    it looks for the last time before it gives up its lock
 * NO_LOOK         a starter does not look whether the lock was given up
 */
#define STARTERS 3

bit ringing, owed, ending, owned = 1;
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
		ringing = 0;
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
		ringing; /* it sleeps until then */
next:		skip
	od;
#ifndef GIVE_UP_LATE
	owned = 0;
#endif
	if
	:: owed -> handle()
	:: else
	fi;
#ifdef GIVE_UP_LATE
	owned = 0
#endif
}

active [STARTERS] proctype starter() {
	inbox++;
#ifdef RING_FIRST
	if
	:: !ringing -> ringing = 1
	:: else
	fi;
#endif
	owed = 1;
#ifndef RING_FIRST
#ifndef NO_RING
	if
	:: !ringing -> ringing = 1
	:: else
	fi;
#endif
#endif
#ifndef NO_LOOK
	if
	:: !owned -> handle()
	:: else
	fi;
#endif
	gone++
}

active proctype closer() {
	if
	:: true -> handled == STARTERS /* their owners have seen it */
	:: true -> skip /* or at any time */
	fi;
	ending = 1;
	ringing = 1
}

active proctype owners() {
	handled == STARTERS
}
