/* A BoundedWait (sched/boundedwait.go), waited in twice by its owner, a thread: in a queue, with a time limit, a context that
 * belongs to the first of the two waits, and a canceler. In each wait the owner parks under its own lock, or under that of the
 * queue, as a wait with a time limit alone does. Each wait ends once, by one of them; what is given from the queue is the
 * owner's; while a claimer has not woken the owner yet that one does not go on; none that comes late ends the next wait; the owner is
 * made ready once, and is parked then.
 *
 *   open     the ticket is open for wait number n; claim: claimFor, a compare-and-swap of both
 *   owner    Open, await, outcome            waker      Pop, Wake
 *   clock    timers.fire                     context    Watch, Fire
 *   quits    Cancel: interrupt
 *   under    it parks under the queue's lock: BoundedWait.lock is that of the queue
 *   asleep   the owner is off its stack: the one that runs after it unlocks */

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
bool under, asleep;
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

/* wake: the caller has claimed. The one that pops holds the queue's lock as it claims, so it finds an owner parked that parks
 * under that. */
inline wake() {
	if
	:: under -> sleeps = true; touching = false
	:: else ->
		lock(mu);
		sleeps = parked;
		touching = false;
		woken = true;
		mu = false
	fi;
	if
	:: sleeps -> assert(asleep && !ready); ready = true
	:: else
	fi
}

/* wakeUnder: wake by one that has not popped the owner. */
inline wakeUnder() {
#ifndef WAKES_UNPARKED
	if
	:: under -> lock(qmu); qmu = false
	:: else
	fi;
#endif
	wake()
}

active proctype owner() {
	bool w;
	do
	:: n < 2 ->
		w = false;
		if
		:: under = true; lock(qmu); atomic { n++; open = true }
		:: under = false; atomic { n++; open = true }; lock(qmu)
		fi;
		assert(!queued);
		queued = true;
		if
#ifdef UNLOCKS_TOO_EARLY
		:: qmu = false
#else
		:: !under -> qmu = false
		:: under
#endif
		fi;
		lock(ts); assert(!pending); pending = true; ts = false;
#ifdef GOES_ON_AT_CLAIM
		if
		:: !open && !under -> goto goOn
		:: true
		fi;
#endif
		if
		:: under -> asleep = true; qmu = false
		:: else ->
			lock(mu);
#ifndef PARKS_WITHOUT_LOOK
			w = woken;
#endif
			parked = !w;
			asleep = !w;
			mu = false
		fi;
		if
		:: w
		:: else -> atomic { ready -> ready = false; asleep = false }
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
		:: mine -> wakeUnder()
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
	:: mine -> assert(n == 1); wakeUnder()
	:: else
	fi
}

active proctype quits() {
	bool mine, sleeps;
	byte i;
	i = n;
	claim(byCancel, i);
	if
	:: mine -> wakeUnder()
	:: else
	fi
}
