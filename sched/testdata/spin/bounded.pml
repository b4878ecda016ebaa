/* A BoundedWait (sched/bounded.go), waited in twice by its owner, a thread: in a queue, with a time limit, a context that
 * belongs to the first of the two waits, and a canceller. Each wait ends once, by one of them; what is given from the queue is the
 * owner's; while a claimer has not woken the owner yet that one does not go on; none that comes late ends the next wait.
 *
 *   open     the ticket is open for wait number n; claim: claimFor, a compare-and-swap of both
 *   owner    Open, await, outcome            waker      Pop, Wake
 *   clock    timers.fire                     context    Watch, Fire
 *   quits    Cancel: interrupt */

#define byQueue 1
#define byClock 2
#define byContext 3
#define byCancel 4

byte n;
bool open;
byte won;
bool qmu, mu, ts;
bool queued;                /* the node; under qmu */
bool pending;               /* the timer; under ts */
bool woken, parked;         /* under mu */
bool ready, touching;
byte given, got;
bool over;

inline lock(l) { atomic { !l -> l = true } }

/* mine: the caller has ended wait number i, and is to wake the owner. */
inline claim(who, i) {
	atomic {
		mine = open && n == i;
		if
		:: mine -> open = false; touching = true; won = who
		:: else
		fi
	}
}

inline wake() {
	lock(mu);
	sleeps = parked;
	touching = false;
	woken = true;
	mu = false;
	if
	:: sleeps -> assert(!ready); ready = true
	:: else
	fi
}

active proctype owner() {
	bool w;
	do
	:: n < 2 ->
		atomic { n++; open = true };
		lock(qmu);
		assert(!queued);
		queued = true;
		qmu = false;
		lock(ts); assert(!pending); pending = true; ts = false;
#ifdef GOES_ON_AT_CLAIM
		if
		:: !open -> goto goOn
		:: true
		fi;
#endif
		lock(mu);
#ifndef PARKS_WITHOUT_LOOK
		w = woken;
#endif
		parked = !w;
		mu = false;
		if
		:: w
		:: else -> atomic { ready -> ready = false }
		fi;
#ifdef GOES_ON_AT_CLAIM
goOn:
#endif
		assert(!open && !touching);
		lock(ts);
#ifndef LEAVES_TIMER
		pending = false;
#endif
		ts = false;
		parked = false;
		woken = false;
		if
		:: won == byQueue -> got++
		:: else ->
#ifndef STAYS_IN_QUEUE
			lock(qmu); queued = false; qmu = false
#endif
		fi
	:: else -> break
	od;
	over = true;
	assert(given == got)
}

active proctype waker() {
	bool mine, sleeps;
	byte i;
	do
	:: i < 2 ->
		mine = false;
		lock(qmu);
		if
		:: queued ->
			queued = false;
			claim(byQueue, n);
			given = given + mine
		:: else
		fi;
		qmu = false;
		if
		:: mine -> wake()
		:: else
		fi;
		i++
	:: else -> break
	od
}

active proctype clock() {
	bool mine, sleeps;
end:	do
	:: atomic { pending && !ts -> ts = true };
		mine = false;
		if
		:: pending -> pending = false; claim(byClock, n)
		:: else
		fi;
		ts = false;
		if
		:: mine -> wake()
		:: else
		fi
	od
}

active proctype context() {
	bool mine, sleeps;
	n > 0;
#ifdef NO_NUMBER
	claim(byContext, n);
#else
	claim(byContext, 1);
#endif
	if
	:: mine -> assert(n == 1); wake()
	:: else
	fi
}

active proctype quits() {
	bool mine, sleeps;
	byte i;
	i = n;
	claim(byCancel, i);
	if
	:: mine -> wake()
	:: else
	fi
}
