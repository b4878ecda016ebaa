/* Receives from any source: ANYSOURCE.md. Three gates, of which the first one leads to the own rank, and a receiver each of two threads.
 *
 *   R0               a program: it posts the receive X0 from any source and the receive Y from gate 1, in either order
 *   R1               another one: it posts X1 from any source, and then claims a message of gate 1, or cancels X1, or neither
 *   poller           of a gate: it takes in what comes, and ends the gate
 *   post, look       match.go: startAny, look
 *   start, begin     gate.go: recv; submit.go: startRecv
 *   collect, holder  inbox.go: Begin, takeReceives; match.go: failLost
 *   compare          matcher.go: searchUpTo, matchWild; anylist.go: nextWild, takeAged
 *   arrive, keep     receiver.go: arrive, keep; matcher.go: ArriveAny, Keep
 *   letGo            progress.go
 *
 * Parameters: the locks, one for each gate and one for the list, or one for all, which the threads wait for; the group and what happens in it:
 *
 *   gates 0 and 1    two messages come to gate 1; R1 begins when R0 has posted, or at any time, and claims or cancels
 *   gates 0 and 1    one message comes to gate 1, which ends; no Y is posted
 *   all gates        one message comes to gate 1 and one to gate 2; no Y is posted; R1 begins when R0 has posted
 *   all gates        one message comes to gate 1; both end; only X0 is posted
 *
 * Properties. Of two receives that were posted one after the other and get messages of one gate, the first one gets the lower number,
 * claims included. A receive from any source is lost only when no gate of the group keeps a message. In the end no receive waits while a
 * message for it is kept, nor, once all have ended, at all. Nothing is left behind for a holder of a lock that does not come.
 *
 * Mutations, and what each one leads to:
 *   YOUNGER_FIRST    a receive of a gate begins without a comparison: it gets the message of an older one from any source
 *   AGE_AFTER_INBOX  the age is read after the inbox was emptied: a receive from any source gets the message of an older one of the gate
 *   COLLECTED_YOUNG  the ages of what was collected do not count: likewise the other way round, when a message comes
 *   CLOCK_FIRST      the clock counts before count: a comparison finds the list empty, and is not made again
 *   NO_SECOND_LOOK   a gate that has set its flag does not look at count again: a receive waits beside its message
 *   NO_RESCAN        a poster that finds a lock held leaves nothing behind: likewise
 *   NO_LOOK          a holder that has let the lock go does not look at the inbox: likewise
 *   CLAIM_FIRST      a claim compares nothing before: it gets the message of an older receive
 *   FAIL_AT_ONCE     a poster that finds that it is over takes its receive back: it is lost beside its message
 *   FAIL_AT_END      the last end fails all that wait: likewise
 *   NO_AGES          what is over is failed by the first gate that has looked: likewise
 *   NO_OWN_LOOK      the own gate is not asked to look: without messages no holder fails the receive
 *
 * Left out: tags, masks and probes that wait, which choose among messages and receives, but not when they are compared (match has a test
 * against a model for that); messages of the own rank; more than one packet at a time. */

#define X0 0
#define Y 1
#define X1 2
#define CLAIM 3
#define NONE 4

mtype = { idle, listed, left, begun, waits, done, lost, withdrawn };

mtype state[4] = idle;
byte age[4], from[4], number[4];
byte before[4];                 /* a bit for each receive that was posted before this one */

byte clock, count;              /* of Any; listed is being in its list */
bool listLock, over;
bit flag[3], lock[3], rescan[3];
byte looked[3];
byte searched[3], within[3];    /* of the matcher */
byte kept[3];                   /* a bit for each message */
byte came[3];
bool ended[3];
byte live = 2;                  /* senders */
byte running = 4;

bool all, one, chained, ends;   /* parameters: the group has gate 2, too; one lock; R1 begins after R0; gates end */
bool posted;                    /* R0 has */

#define lockOf(g) lock[(one -> 0 : g)]
#define lock1 lockOf(1)
#define lowest(set) (set & 1 -> 0 : 1)
#define behind(a, b) (state[a] == done && state[b] == done && from[a] == from[b] && (before[b] & (1 << a)) && number[a] > number[b])

/* A receive gets message n of gate g. */
inline give(r, g, n) {
	d_step {
		state[r] = done; from[r] = g; number[r] = n;
		assert(!behind(X0, Y) && !behind(Y, X0) && !behind(X0, X1) && !behind(Y, X1));
		assert(!behind(X0, CLAIM) && !behind(Y, CLAIM) && !behind(X1, CLAIM))
	}
}

inline giveKept(r, g) {
	d_step { low = lowest(kept[g]); kept[g] = kept[g] & ~(1 << low) };
	give(r, g, low)
}

/* A receive from any source fails. */
inline lose(r) {
	state[r] = lost; count--;
	assert(kept[1] == 0 && (!all || kept[2] == 0))
}

/* The entry of the list that is the oldest of those younger than a and of up to b. */
inline pick(a, b) {
	d_step {
		id = NONE;
		if
		:: state[X0] == listed && age[X0] > a && age[X0] <= b -> id = X0
		:: else
		fi;
		if
		:: state[X1] == listed && age[X1] > a && age[X1] <= b && (id == NONE || age[X1] < age[X0]) -> id = X1
		:: else
		fi
	}
}

inline compare(g, limit) {
	atomic {
		if
		:: limit <= searched[g] -> id = NONE
		:: limit > searched[g] && (kept[g] == 0 || count == 0) -> searched[g] = limit; id = NONE
		:: limit > searched[g] && kept[g] != 0 && count != 0 && !listLock ->
			pick(searched[g], limit);
			searched[g] = (id == NONE -> limit : searched[g])
		fi
	};
	do
	:: id == NONE -> break
	:: else ->
		atomic {
			!listLock;
			w = age[id];
			if
			:: state[id] == listed -> giveKept(id, g); count--
			:: else /* another gate had one for it, or it was withdrawn */
			fi;
			id = NONE;
			if
			:: kept[g] != 0 -> pick(w, limit)
			:: else
			fi;
			w = 0;
			searched[g] = (id == NONE -> limit : searched[g])
		}
	od
}

inline begin() {
#ifndef YOUNGER_FIRST
	if
	:: kept[1] != 0 -> compare(1, age[Y])
	:: else /* nothing to compare: searched stays */
	fi;
#endif
	atomic {
		if
		:: kept[1] != 0 -> giveKept(Y, 1)
		:: kept[1] == 0 && ended[1] -> state[Y] = lost
		:: kept[1] == 0 && !ended[1] -> state[Y] = waits
		fi
	}
}

/* lim is the age up to which all may be compared; it was read before. */
inline collect(g) {
	if
	:: atomic {
			g == 1 && state[Y] == left -> state[Y] = begun;
#ifndef COLLECTED_YOUNG
			lim = (age[Y] > lim -> age[Y] : lim)
#endif
		};
		begin()
	:: atomic { !(g == 1 && state[Y] == left) -> skip }
	fi;
#ifdef AGE_AFTER_INBOX
	lim = clock
#endif
}

/* What is lost is taken out at once: nothing else takes out the oldest entry meanwhile but a cancel, or makes it young. */
inline failLost(g) {
	if
	:: atomic {
			over && !listLock -> looked[g] = lim;
			do
			:: pick(0, 255);
				if
				:: id == NONE -> break
#ifndef NO_AGES
				:: id != NONE && (flag[0] && looked[0] < age[id] || flag[1] && looked[1] < age[id] || flag[2] && looked[2] < age[id]) -> break
#endif
				:: else -> lose(id)
				fi
			od;
			id = 0
		}
	:: atomic { !over -> skip }
	fi
}

/* With the lock the thread takes out rescan, and then reads the age. */
#define begins(g) lockOf(g) = 1; asked = rescan[g]; rescan[g] = 0; lim = clock

inline holder(g) {
	collect(g);
	if
	:: asked ->
		compare(g, lim);
		flag[g] = flag[g] && kept[g] != 0;
		failLost(g)
	:: else
	fi
}

/* With one lock for all a thread waits for it, and leaves nothing behind. */
inline tryLock(g) {
	atomic {
		if
		:: !lockOf(g) -> begins(g); ok = true
		:: lockOf(g) && !one -> ok = false
		fi
	}
}

inline letGo(g) {
	do
	:: atomic { lockOf(g) = 0; lim = 0; id = 0; asked = false; ok = false };
#ifndef NO_LOOK
		atomic {
			if
			:: (rescan[g] || g == 1 && state[Y] == left) && !lockOf(g) -> begins(g); ok = true
			:: else
			fi
		};
#endif
		if
		:: ok -> holder(g)
		:: else -> break
		fi
	od
}

inline lookAt(g) {
#ifndef NO_RESCAN
	rescan[g] = 1;
	tryLock(g);
#else
	tryLock(g);
	asked = ok;
#endif
	if
	:: ok -> holder(g); letGo(g)
	:: else
	fi
}

inline look() {
	h = (flag[1] -> 1 : (flag[2] -> 2 : 3));
	do
	:: h == 3 -> break
	:: else -> lookAt(h); h = (h == 1 && flag[2] -> 2 : 3)
	od;
	h = 0
}

inline lookOwn() {
#ifndef NO_OWN_LOOK
	lookAt(0)
#else
	skip
#endif
}

#ifndef CLOCK_FIRST
#define first(r) count++
#define second(r) d_step { clock++; age[r] = clock }
#else
#define first(r) clock++; age[r] = clock
#define second(r) count++
#endif

inline post(r) {
	if
	:: one -> atomic { !lock[0]; lock[0] = 1 }
	:: else
	fi;
	atomic { !listLock; listLock = true; first(r) };
	second(r);
	d_step { state[r] = listed; listLock = false };
	if
	:: one -> lock[0] = 0
	:: else
	fi;
	look();
	if
	:: over ->
#ifndef FAIL_AT_ONCE
		lookOwn()
#else
		atomic {
			!listLock;
			if
			:: state[r] == listed -> lose(r)
			:: else
			fi
		}
#endif
	:: else
	fi
}

inline start() {
	age[Y] = clock;
	atomic {
		if
		:: !lock1 -> lock1 = 1; ok = true
		:: lock1 && !one -> state[Y] = left
		fi
	};
	if
	:: ok -> begin(); letGo(1)
	:: else ->
		tryLock(1);
		if
		:: ok -> holder(1); letGo(1)
		:: else
		fi
	fi
}

inline arrive(g, n) {
	if
	:: atomic { count != 0 -> lim = clock }; collect(g); within[g] = lim
	:: atomic { count == 0 -> skip }
	fi;
	if
	:: count != 0 ->
		compare(g, within[g]);
		atomic {
			!listLock;
			lim = (g == 1 && state[Y] == waits && age[Y] < searched[g] -> age[Y] : searched[g]);
			pick(0, lim);
			if
			:: id != NONE -> give(id, g, n); count--
			:: else
			fi
		}
	:: atomic { count == 0 -> id = NONE }
	fi;
	atomic {
		if
		:: id != NONE -> ok = true
		:: id == NONE && g == 1 && state[Y] == waits -> give(Y, g, n); ok = true
		:: else -> kept[g] = kept[g] | (1 << n); ok = flag[g]; flag[g] = 1
		fi;
		came[g]++
	};
#ifndef NO_SECOND_LOOK
	rescan[g] = rescan[g] || !ok && count != 0
#endif
}

#define messages (g == 1 -> (all || ends -> 1 : 2) : (ends -> 0 : 1))

proctype poller(byte g) {
	byte lim, w, id, low, h;
	bool asked, ok;
	do
	:: came[g] < messages ->
		atomic { !lockOf(g); lockOf(g) = 1 };
		arrive(g, came[g]); letGo(g)
	:: else -> break
	od;
	if
	:: ends ->
		atomic { !lockOf(g); lockOf(g) = 1 };
		atomic {
			ended[g] = true;
			if
			:: g == 1 && state[Y] == waits -> state[Y] = lost
			:: else
			fi;
			live--; over = (live == 0); h = over
		};
		letGo(g);
		if
		:: h ->
#ifdef FAIL_AT_END
			atomic {
				!listLock;
				pick(0, 255);
				if
				:: id != NONE -> lose(id)
				:: else
				fi
			};
#endif
			look(); lookOwn()
		:: else
		fi
	:: else
	fi;
	running--
}

proctype R0() {
	byte lim, w, id, low, h;
	bool asked, ok;
	if
	:: all || ends -> state[Y] = lost; post(X0) /* it posts no Y */
	:: !all && !ends -> before[Y] = 1 << X0; post(X0); start()
	:: !all && !ends -> before[X0] = 1 << Y; start(); post(X0)
	fi;
	posted = true;
	running--
}

proctype R1() {
	byte lim, w, id, low, h;
	bool asked, ok;
	if
	:: chained -> posted; before[X1] = 1 << X0 | 1 << Y
	:: else
	fi;
	if
	:: all && ends -> state[X1] = withdrawn /* it posts none */
	:: else -> post(X1)
	fi;
	if
	:: true
	:: !all && !ends ->
		atomic {
			!listLock;
			if
			:: state[X1] == listed -> state[X1] = withdrawn; count--
			:: else
			fi
		}
	:: !all && !ends ->
		before[CLAIM] = before[X1] | 1 << X1;
		atomic { !lock1; lock1 = 1; lim = clock };
		collect(1);
#ifndef CLAIM_FIRST
		compare(1, lim);
#endif
		atomic {
			if
			:: kept[1] != 0 -> giveKept(CLAIM, 1)
			:: else
			fi
		};
		letGo(1)
	fi;
	running--
}

#define unanswered(r) (state[r] == listed && (over || kept[1] != 0 || all && kept[2] != 0))

init {
	atomic {
		if
		:: one = true
		:: one = false
		fi;
		if
		:: running--
		:: chained = true; running--
		:: ends = true; live = 1; running--
		:: all = true; chained = true
		:: all = true; ends = true
		fi;
		run poller(1); run R0(); run R1();
		if
		:: all -> run poller(2)
		:: else
		fi
	};
	running == 0;
	assert(!unanswered(X0) && !unanswered(X1));
	assert(state[Y] == done || state[Y] == lost || state[Y] == waits && !ends && kept[1] == 0);
	assert(!ends || over)
}
