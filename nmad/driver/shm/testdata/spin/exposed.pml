/* A message that its sender exposes: the receiver reads it by itself, the sender may give it up, or die, at any point.
 *
 *   sender     gives the message up: link.Withdraw, before the memory is the program's again, which changes it
 *   receiver   fetch_linux.go: Fetch: reads, then looks whether the message was withdrawn, then whether the peer is there
 *   fate       the kernel: it ends the sender's process, closes its socket, and gives its number to another process
 *
 * memory is what the receiver reads under the number of the peer, in two halves: 1 the message, 2 what the program has written there
 * since, 3 the memory of another process. away is the word hidden. The look at it changes the word, to the same value: on a processor that moves
 * loads about, the reads before it are over by then.
 *
 * Property: what the receiver takes for the message is the message.
 *
 * Mutations, and what each one leads to:
 *   CHANGE_FIRST   the program has its memory before the message is withdrawn: half of the message is what it writes
 *   LOOK_FIRST     the receiver looks whether the message was withdrawn before it reads it: likewise
 *   NO_LOOK        it does not look: likewise
 *   ABSENT         it does not look whether the peer is there: it takes another process's memory for the message
 *   PRESENT_FIRST  it looks whether the peer is there before it reads: likewise
 *   REUSED_FIRST   the kernel gives the number away before it closes the socket: likewise; it does not
 *
 * Left out: that present trusts a look at the socket of some milliseconds ago, as numbers are given out in turn; a peer that
 * does not keep to the protocol, which can only spoil what it has sent. */

byte memory[2] = 1;
bool away, closed;

active proctype sender()
{
#ifndef CHANGE_FIRST
	away = true;
#endif
	if
	:: memory[0] == 1 -> memory[0] = 2
	:: else -> goto dead
	fi;
	if
	:: memory[1] == 1 -> memory[1] = 2
	:: else -> goto dead
	fi;
#ifdef CHANGE_FIRST
	away = true;
#endif
dead:	skip
}

active proctype fate()
{
	if
	:: skip
	:: atomic {
#ifndef REUSED_FIRST
		closed = true
#else
		memory[0] = 3; memory[1] = 3
#endif
	   };
	   atomic {
#ifndef REUSED_FIRST
		memory[0] = 3; memory[1] = 3
#else
		closed = true
#endif
	   }
	fi
}

active proctype receiver()
{
	byte got[2];
	bool there = true;

#ifdef LOOK_FIRST
	there = !away;
#endif
#ifdef PRESENT_FIRST
	there = there && !closed;
#endif
	got[0] = memory[0];
	got[1] = memory[1];
#ifndef LOOK_FIRST
#ifndef NO_LOOK
	there = !away;
#endif
#endif
#ifndef PRESENT_FIRST
#ifndef ABSENT
	there = there && !closed;
#endif
#endif
	if
	:: there -> assert(got[0] == 1 && got[1] == 1)
	:: else -> skip
	fi
}
