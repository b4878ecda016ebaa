/* The doorbell of a link: two processes with memory in common, of which each sleeps when it finds
 * nothing to do, and is woken by the bell; and one of which may die at any point.
 *
 *   poster           side A, its first thread: link_linux.go: Send, Recv; it sleeps for room, and for the answer
 *   pusher           side A, a second thread: link_linux.go: pushSlots; it does not sleep
 *   server           side B: link_linux.go: Recv, Pull; it sleeps when both tracks are empty, and answers in the end
 *   fill, publish    small.go: send; large.go: fill; publish_norace.go: publish; T1 of README.md. The credit is published, too
 *   wake             link_linux.go: wake; T2 and T3
 *   nap              link_linux.go: Arm, Disarm; S1 and S2, and epoll_wait on the Descriptor, S3
 *   alone            link_linux.go: idleCheck, checkPeer
 *   memory           the store buffers of the CPUs
 *   fate             the kernel: it ends a process, and closes its socket once what it has stored is seen
 *
 * Stores go through a buffer for each thread, first in, first out, as on x86: mem has what others see. A barrier waits until
 * the buffer is empty. On arm64 each pair is a store-release before a load-acquire, which keep their order, too.
 *
 * Properties: no thread is left asleep, and none runs for ever. If no process dies, all is received, and the answer, too. If one
 * dies, the other one finds out; and a side that reports its peer as lost has received all that the peer had published
 * (the assertions in server). A ready word that is seen has its bytes before it.
 *
 * Mutations, and what each one leads to:
 *   NO_BARRIER       what is published is a plain store: the sender misses the flag, the sleeper the packet
 *   NO_ARM_BARRIER   the flags are plain stores: likewise
 *   NO_SECOND_LOOK   a packet that came before the flag was up is slept on
 *   NO_LOOK_AT_ROOM  likewise room
 *   LOOK_FIRST       the look comes before the flag: a packet between the two is slept on
 *   RING_FIRST       the bell rings before the flag is taken: the flag of the next sleep is taken, and nothing rings
 *   QUIET_LATE       the bell is emptied after the second look: a ring is lost
 *   READY_FIRST      the ready word goes before the bytes
 *   NO_HANGUP        the socket is not in the epoll set: a sleeper does not hear that its peer died
 *   NO_LOOK_AT_ONCE  a sleeper that was woken by the socket polls without a look at it: it may do so for ever
 *   LOST_AT_ONCE     the ring is not looked at again once the peer is known to be dead: a packet is lost
 *
 * Bounds: one cell and one slot, SMALL packets, one slot and one answer; either a pusher, or a death.
 * Left out: laps (the words count here), bodies that do not fit into a cell, room in the large ring, offers,
 * Close by the own side, how often a poll that no sleep came before looks at the socket (it may, or not).
 * model_test.go has more tracks and directions, without death. */

#define FINITE
#define SMALL 2
#define ROOM  1                 /* cells */

#define A 0
#define B 1

/* Words of the segment. Rings: 0 small, 1 large, from A to B; 2 small, from B to A. */
#define READY(ring)    (ring)
#define CREDIT         3        /* of the small ring from A to B */
#define SLEEPING(side) (4 + side)
#define WANTROOM(side) (6 + side)
#define DATA(ring)     (8 + ring)
#define WORDS 11

byte mem[WORDS];
chan buffer0 = [2] of { byte, byte };   /* the stores of poster, */
chan buffer1 = [2] of { byte, byte };   /* of pusher, */
chan buffer2 = [2] of { byte, byte };   /* and of server */
bool bell[2];                           /* eventfds */
bool dead[2];                           /* its threads do no more steps */
bool hung[2];                           /* its end of the socket is closed */
bool lost[2];                           /* link.state: that side knows that its peer is gone */
bool look[2];                           /* link.state: lookAtOnce */
bool two;                               /* there is a pusher */
bool answered;

/* A store that is a full barrier. */
inline swap(buffer, word, value) { atomic { empty(buffer) -> mem[word] = value } }

inline publish(buffer, word, value) {
#ifndef NO_BARRIER
	swap(buffer, word, value)
#else
	buffer!word(value)
#endif
}

/* A packet: its bytes, which are plain stores, and its ready word. */
inline fill(buffer, ring, value) {
#ifndef READY_FIRST
	buffer!DATA(ring)(value);
	publish(buffer, READY(ring), value)
#else
	publish(buffer, READY(ring), value);
	buffer!DATA(ring)(value)
#endif
}

/* The flag of that side is up: take it, and ring. */
inline wake(buffer, side, flag) {
	if
	:: mem[flag] == 0
	:: else ->
#ifndef RING_FIRST
		atomic { empty(buffer) -> was = mem[flag]; mem[flag] = 0 };
		atomic {
			if
			:: was -> bell[side] = true; was = 0
			:: else
			fi
		}
#else
		bell[side] = true;
		swap(buffer, flag, 0)
#endif
	fi
}

inline disarm(buffer, me) {
	swap(buffer, WANTROOM(me), 0);
	swap(buffer, SLEEPING(me), 0);
	bell[me] = false;
}

inline raise(buffer, word) {
#ifndef NO_ARM_BARRIER
	swap(buffer, word, 1)
#else
	buffer!word(1)
#endif
}

/* Arm, and sleep. something: what a look finds. */
inline nap(buffer, me, peer, room, something) {
	if
	:: lost[me]
	:: else ->
#ifdef LOOK_FIRST
		if
		:: something -> goto awake
		:: else
		fi;
#endif
		raise(buffer, SLEEPING(me));
		if
		:: room -> raise(buffer, WANTROOM(me))
		:: else
		fi;
		if
#if !defined(NO_SECOND_LOOK) && !defined(LOOK_FIRST)
		:: something -> disarm(buffer, me)
#endif
		:: else ->
#ifdef QUIET_LATE
			bell[me] = false;
#endif
#ifndef NO_HANGUP
			(bell[me] || hung[peer]);
#else
			bell[me];
#endif
			look[me] = true;
			disarm(buffer, me)
		fi
	fi;
awake:	skip
}

/* Nothing was found: is the peer gone? It is looked for now and then, and after a sleep. */
inline alone(me, peer) {
	atomic {
		if
#ifndef NO_LOOK_AT_ONCE
		:: look[me] ->
			look[me] = false;
			if
			:: hung[peer] -> lost[me] = true
			:: else
			fi
		:: !look[me]
#else
		:: true
#endif
		:: !look[me] && hung[peer] -> lost[me] = true
		fi
	}
}

proctype poster() {
	byte n;
	bool was;
	{
		do
		:: n == SMALL || lost[A] -> break
		:: else ->
			if
			:: n - mem[CREDIT] < ROOM ->
				n++;
				fill(buffer0, 0, n);
				wake(buffer0, B, SLEEPING(B))
			:: else ->
				alone(A, B);
#ifndef NO_LOOK_AT_ROOM
				nap(buffer0, A, B, true, mem[READY(2)] || n - mem[CREDIT] < ROOM)
#else
				nap(buffer0, A, B, true, mem[READY(2)])
#endif
			fi
		od;
		do
		:: atomic { mem[READY(2)] -> answered = true; assert(mem[DATA(2)]); break }
		:: else ->
			if
			:: lost[A] -> break
			:: else -> alone(A, B); nap(buffer0, A, B, false, mem[READY(2)])
			fi
		od
	} unless { dead[A] }
}

proctype pusher() {
	bool was;
	{
		fill(buffer1, 1, 1);
		wake(buffer1, B, SLEEPING(B))
	} unless { dead[A] }
}

proctype server() {
	byte small, large;
	bool was, known, owing, over, closed;   /* over, closed: the small, the large track reports the loss */
	{
again:		do
		:: (small == SMALL || over) && (large || closed || !two) -> break
		:: else ->
			/* Recv */
			atomic {
				known = lost[B];
				if
				:: owing -> owing = false
				:: else -> goto look0
				fi
			};
			publish(buffer2, CREDIT, small);
			wake(buffer2, A, WANTROOM(A));
look0:			if
			:: atomic { mem[READY(0)] > small -> small++; owing = true; assert(mem[DATA(0)] == small); goto again }
			:: else
			fi;
			if
			:: known -> over = true; assert(small == mem[READY(0)])
			:: else -> alone(B, A);
				if
#ifndef LOST_AT_ONCE
				:: lost[B] -> goto again /* once more, as the state says lost by now */
#else
				:: lost[B] -> over = true; assert(small == mem[READY(0)])
#endif
				:: else
				fi
			fi;
			/* Pull */
			known = lost[B];
			if
			:: atomic { mem[READY(1)] > large -> large++; assert(mem[DATA(1)]); goto again }
			:: else
			fi;
			if
			:: known -> closed = true; assert(large == mem[READY(1)])
			:: else -> known = false; nap(buffer2, B, A, false, mem[READY(0)] > small || mem[READY(1)] > large)
			fi
		od;
		if
		:: over || closed
		:: else -> fill(buffer2, 2, 1); wake(buffer2, A, SLEEPING(A))
		fi
	} unless { dead[B] }
}

active proctype memory() {
	byte word, value;
end:	do
	:: atomic { buffer0?word(value) -> mem[word] = value; word = 0; value = 0 }
	:: atomic { buffer1?word(value) -> mem[word] = value; word = 0; value = 0 }
	:: atomic { buffer2?word(value) -> mem[word] = value; word = 0; value = 0 }
	od
}

/* What a process has stored is seen before its socket is closed. */
proctype fate() {
	if
	:: dead[A] = true; atomic { empty(buffer0) && empty(buffer1) -> hung[A] = true }
	:: dead[B] = true; atomic { empty(buffer2) -> hung[B] = true }
	:: true
	fi
}

init {
	atomic {
		run poster(); run server();
		if
		:: two = true; run pusher()
		:: run fate()
		fi
	};
	timeout;
	assert(dead[A] || dead[B] || answered && mem[READY(0)] == SMALL && mem[READY(1)] == two)
}
