/*
 * A member waits for two others, as wait, maySleep and do of nmad/mpi/shared.go have it. Either the root publishes pieces, which both
 * others read: it uses a slot again once both have released what is there. Or both others publish, and the root combines two pieces: it waits
 * for that of the one, then for that of the other. sleepers.pml has one reader, so it cannot see that a waiter sleeps for the wrong member.
 *
 *   look     met and awaited: Blocks, or Ready of each piece. One look stands for several in a row: words only grow, so the last one of
 *            them finds the member of the first only if all between do
 *   store    Publish, Release, ReleaseAll; Sleepers, which calls wake
 *   bell     the messages of wake, one queue for each two members; hear receives
 *   the end  owed, which receives what is left when a communicator is freed
 *
 * Spin finds that no member sleeps for ever, and none looks for ever (FINITE); that a piece stays as it is until its readers have read it;
 * that one message at most is under way from a member to another; and that no message and no bit is left in the end. Memory is
 * sequentially consistent: the stores of words, and the changes of bits, are full fences.
 *
 *   ANY_LEFT         the second look asks whether any member is left to wait for: a waiter sleeps for one that has done its part,
 *                    and that one for the waiter
 *   NO_SECOND_LOOK   a waiter sleeps without looking once more after it has set its bit
 *   EARLY_BITS       a writer of a word looks for bits before it stores the word
 *   NO_OR            a waiter loads the bits, then stores them with its own: it takes away, or brings back, that of another
 *   NO_SWAP          a writer of a word loads the bits, then clears them: it loses one that is set between
 *   NO_OWED          a waiter that takes its bit back too late forgets the message that comes
 *   ONE_OWED         it remembers that a message comes, but not from which member
 *   NO_WAKEFUL       it leaves its bit, and counts on a message
 *   NO_HEAR          it looks again, as long as a message is under way that it would have to receive: it never sleeps
 *   ONE_TAKEN        the root waits for one of the readers
 *
 * Bounds: three members, two slots, one operation of three pieces. Left out: ranks that fail or leave, and what polls before a sleep.
 */
#define FINITE
#define MEMBERS 3
#define ROOT 0
#define PIECES 3
#define SLOTS 2
#define NONE MEMBERS

bool combines;                  /* which operation it is: the root combines; otherwise it publishes */

/* The stations. A member writes its own one, and its bit in those of others. */
byte flag[MEMBERS * SLOTS];
byte body[MEMBERS * SLOTS];     /* the piece, which is its mark */
byte released[MEMBERS];
byte bits[MEMBERS];             /* members that sleep for this one */

chan bell[MEMBERS * MEMBERS] = [1] of { bit };

#define SLOT (k % SLOTS)
#define HEAD(m) (m * SLOTS + SLOT)
#define MARK (k + 1)
#define END (PIECES + 1)
#define BIT(m) (1 << m)
#define BELL(of, to) bell[of * MEMBERS + to]

#ifdef ONE_OWED
#define OWES(m) owes[0]
#else
#define OWES(m) owes[m]
#endif

/* at becomes the member that the step waits for; NONE: it need not wait. */
inline look() {
	at = first;
	do
	:: atomic {
			if
			:: puts && seen[at] < held[SLOT] -> seen[at] = released[at]
			:: else
			fi;
			if
			:: puts && seen[at] < held[SLOT] || !puts && flag[HEAD(at)] != MARK -> break
			:: else -> at++
			fi;
			if
			:: at > last -> at = NONE; break
#ifdef ONE_TAKEN
			:: puts && at > first -> at = NONE; break
#endif
			:: else
			fi
		}
	od
}

inline store(word, mark) {
#ifdef EARLY_BITS
	wakes = (bits[me] != 0);
	word = mark;
#else
	word = mark;
	wakes = (bits[me] != 0);
#endif
	if
	:: wakes ->
#ifdef NO_SWAP
		wakes = bits[me];
		bits[me] = 0;
#else
		atomic { wakes = bits[me]; bits[me] = 0 }
#endif
		at = 0;
		do
		:: atomic { wakes & BIT(at) -> assert(nfull(BELL(me, at))); BELL(me, at) ! 1; wakes = wakes & ~BIT(at) }
		:: atomic { wakes && !(wakes & BIT(at)) -> at++ }
		:: atomic { !wakes -> at = 0; break }
		od
	:: else
	fi
}

inline wait() {
	do
	:: look();
		atomic {
			if
			:: at == NONE -> at = 0; break
			:: else -> other = at; at = 0
			fi;
			sleeps = OWES(other);   /* maySleep */
#ifdef NO_OR
			wakes = bits[other]
#else
			if
			:: !sleeps -> bits[other] = bits[other] | BIT(me)
			:: else
			fi
#endif
		}
		if
		:: !sleeps ->
#ifdef NO_OR
			bits[other] = wakes | BIT(me);
#endif
#ifdef NO_SECOND_LOOK
			sleeps = true
#else
			look();
			atomic {
#ifdef ANY_LEFT
				sleeps = (at != NONE);
#else
				sleeps = (at == other);
#endif
				at = 0;
				if
				:: !sleeps ->
#ifdef NO_WAKEFUL
					OWES(other) = true
#else
#ifndef NO_OWED
					OWES(other) = (bits[other] & BIT(me)) == 0;
#endif
					bits[other] = bits[other] & ~BIT(me)
#endif
				:: else
				fi
			}
#endif
#ifdef NO_HEAR
		:: else -> sleeps = false
#else
		:: else
#endif
		fi;
		if
		:: atomic { sleeps -> BELL(other, me) ? 1; OWES(other) = false; sleeps = false; other = 0 }
		:: atomic { !sleeps -> other = 0 }
		fi
	od
}

/* first to last are those that read its pieces, or whose pieces it reads. */
proctype member(byte me; byte first; byte last) {
	byte k, at, other, wakes;
	byte seen[MEMBERS];     /* what the others have released, as far as this one has looked it up */
	byte held[SLOTS];       /* the mark of what this one has published there */
	bool owes[MEMBERS];     /* members whose message is under way, though this one has stopped waiting for it */
	bool puts = (combines != (me == ROOT));
	bool sleeps;

	do
	:: k == PIECES -> break
	:: else ->
		wait();
		if
		:: puts ->
			body[HEAD(me)] = MARK;
			held[SLOT] = MARK;
			store(flag[HEAD(me)], MARK)
		:: else ->
			atomic {
				at = first;
				do
				:: at > last -> at = 0; break
				:: else -> assert(body[HEAD(at)] == MARK); at++
				od
			}
			if
			:: k >= SLOTS / 2 -> store(released[me], MARK)
			:: else                 /* releaseIfAwaited: the end of the operation tells soon enough */
			fi
		fi;
		k++
	od;
	store(released[me], END);

	atomic {
		do
		:: other == MEMBERS -> break
		:: else ->
			if
			:: OWES(other) -> BELL(other, me) ? 1; OWES(other) = false
			:: else
			fi;
			assert(empty(BELL(other, me)) && !(bits[other] & BIT(me)));
			other++
		od
	}
}

init {
	atomic {
		if
		:: combines = false
		:: combines = true
		fi;
		run member(ROOT, 1, MEMBERS - 1);
		run member(1, ROOT, ROOT);
		run member(2, ROOT, ROOT)
	}
}
