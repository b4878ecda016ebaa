/* A VP without a holder, and what must give it one: posts, kicks, threads back from Blocking,
 * threads whose VP is seized in system calls. Nothing posted is lost, no thread runs twice, one LWP at most
 * holds the VP, and a VP that is kicked looks.
 *
 *   release, claim, wakeIfDue, wakeSpare   sched/waking.go
 *   post, collect                 sched/waking.go, vp.go
 *   kicker                        sched/waking.go: vp.kick
 *   waking, kicked, spare         sched/idle.go
 *   lwp                           sched/lwp.go: main, live, serve, resume, sleep, await, obtain
 *   a thread's way                sched/thread.go: Blocking; sched/co.go: Enter, regains, comeBack
 *   seize                         sched/watch.go: seize; sched/direct: Deprive
 *   thief                         sched/steal.go: stealFrom; sched/watch.go: takeBack, claimStopped
 *
 * Thread 1 goes into Blocking or into a system call before it ends. All goes by locked
 * operations, so there are no store buffers here; to borrow is one step: word.pml has its parts.
 * The clock looks at a free VP at each tick, as a post does: it does not here, for nothing is to wait for that. */

#define THREADS  2
#define LWPS     2
#define BORROWED 128

byte word;                      /* the LWP that holds the VP, 0: none; and BORROWED */
bool user[LWPS + 1];            /* its thread is outside the scheduler, */
bool inCall[LWPS + 1];          /* and in a system call */
chan inbox = [THREADS] of { byte };
chan queue = [THREADS] of { byte };
bool waking, kicked;
bool spare[LWPS + 1];
byte order[LWPS + 1];           /* claim or seize */
byte lwps;                      /* made so far */
bool limited;                   /* and no more are to be */
bool began[THREADS + 1], ran[THREADS + 1];
byte on[THREADS + 1];           /* how many LWPs run it */
bool working;                   /* an LWP or a taker works on the private state */
bool owed;                      /* a look, to a kicker */

#define toClaim 1
#define toSeize 2
#define holder(x) (x & 127)
#define hasWork (len(inbox) + len(queue) > 0)

inline work() { atomic { assert(!working); working = true }; working = false }

inline wakeIfDue() {
	if
	:: word == 0 ->
		if
		:: hasWork || kicked -> wakeSpare(toClaim)
		:: else
		fi
	:: else
	fi
}

inline wakeSpare(o) {
	if
	:: atomic { waking -> skip }
	:: atomic { !waking -> waking = true };
		atomic {
			s = 1;
			do
			:: s <= LWPS && !spare[s] -> s++
			:: else -> break
			od;
			if
			:: s <= LWPS -> spare[s] = false
			:: else -> s = 0;
				if
				:: lwps < LWPS -> lwps++; run lwp(lwps)
				:: else -> limited = true
				fi
			fi
		};
		if
		:: s -> order[s] = o; s = 0
		:: else
		fi
	fi
}

inline claim(won) {
	if
	:: atomic { word == 0 -> word = me; won = true }
	:: atomic { word != 0 -> won = false }
	fi
}

inline release() {
	atomic { word == me -> word = 0 };      /* waits while a taker has it */
#ifndef RELEASE_LOOKS_NOT
	wakeIfDue()
#endif
}

inline post(t) {
#ifndef POST_LOOKS_FIRST
	inbox!t;
	wakeIfDue()
#else
	wakeIfDue();
	inbox!t
#endif
}

inline giveBack(old) {
	word = old;
#ifndef GIVEBACK_LOOKS_NOT
	if
	:: old == 0 -> wakeIfDue()
	:: else
	fi
#endif
}

inline seize(won) {
	if
	:: atomic { word >= BORROWED -> won = false }
	:: atomic { word < BORROWED -> x = word; word = word + BORROWED };
		if      /* the status of the thread holds it in its system call */
		:: atomic { inCall[x] -> word = me + BORROWED; won = true }
		:: atomic { !inCall[x] -> won = false }
		fi;
		word = (won -> me : x)
	fi
}

/* The thread t has come to user code on its LWP, which has the VP. False: it has lost it. */
inline block(has) {
	if
	:: user[me] = false; release()                  /* Blocking */
	:: inCall[me] = true; inCall[me] = false        /* a system call */
	fi;
	user[me] = false;                               /* Enter */
	do
	:: atomic { word == me -> has = true; break }
	:: atomic { holder(word) != me -> has = false; break }
	od;                                             /* waits while a taker has it */
	if
	:: has
	:: else -> claim(has)
	fi
}

proctype lwp(byte me) {
	byte t, s, x, o;
	bool holds, was;
	waking = false;
	claim(holds);
	do
	:: holds ->
		work();
		d_step {        /* collect */
			do
			:: len(inbox) > 0 -> inbox?t; queue!t
			:: else -> break
			od;
			t = 0
		};
		if
		:: atomic { queue?t -> on[t]++; assert(on[t] == 1) };
			if
			:: !began[t] -> began[t] = true; user[me] = true;
				block(holds)
			:: else
			fi;
			atomic {
				on[t]--;
				if
				:: holds -> ran[t] = true; t = 0
				:: else
				fi
			};
			if
			:: holds
			:: else ->
				spare[me] = true;
				post(t);
				t = 0; goto await
			fi
		:: empty(queue) ->
			owed = false;                   /* the idle hooks */
			if
			:: hasWork
			:: else ->
				holds = false;
				spare[me] = true;
				release();
				goto await
			fi
		fi
	:: else ->
		spare[me] = true;
#ifndef SLEEP_LOOKS_NOT
		wakeIfDue();
#endif
await:
end:		atomic { order[me] -> o = order[me]; order[me] = 0 };
		/* obtain */
		holds = false;
		if
		:: o == toSeize -> seize(holds)
		:: else
		fi;
		waking = false;
		if
		:: holds
		:: else ->
			atomic { was = kicked; kicked = false };
			if
			:: was || hasWork -> claim(holds)
			:: else
			fi;
			if
#ifndef KICK_FORGOTTEN
			:: was && !holds -> kicked = true
#endif
			:: else
			fi
		fi;
		d_step { was = false; o = 0; x = 0 }
	od
}

/* newLWP at the limit: a timer. */
active proctype retry() {
	byte s;
end:	do
	:: atomic { limited -> limited = false };
		waking = false;
		wakeIfDue()
	od
}

proctype poster(byte t) {
	byte s;
	post(t)
}

proctype kicker() {
	byte s, x;
	owed = true;
	x = word;
	if
	:: x && x < BORROWED && user[x]
	:: else ->
		kicked = true;
		if
		:: word == 0 -> wakeSpare(toClaim)
		:: else
		fi
	fi
}

/* A taker borrows the VP while it is free, or its thread is outside, and gives it back. */
proctype thief() {
	byte s, old;
	atomic { word < BORROWED && (word == 0 || user[word]) -> old = word; word = word + BORROWED };
	work();
	giveBack(old)
}

/* The clock finds a thread in a system call, and others ready. */
proctype clock() {
	byte s;
end:	atomic { word && word < BORROWED && inCall[word] && hasWork -> skip };
	wakeSpare(toSeize)
}

init {
	atomic {
		began[2] = true;
		run poster(1);
		if
		:: ran[2] = true; run thief(); run kicker()
		:: run poster(2); run thief()
		:: run poster(2); run clock()
		fi
	};
	timeout;
	assert(ran[1] && ran[2] && !owed)
}
