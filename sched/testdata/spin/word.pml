/* What may work on the private state of a VP: the coroutine that runs there, inside the
 * scheduler, or a taker that has borrowed the VP. Never both.
 *
 *   enter, regains, leave   sched/co.go: Enter, regains, comeBack, Leave
 *   switch to               sched/co.go: switchTo, carry; sched/direct: Switch
 *   borrow, giveBack        sched/borrow.go
 *   fence                   sched/borrow.go: fence, announce
 *   detach                  sched/watch.go: detach, detachPortable
 *
 * The stores of the VP's CPU go through a buffer, first in, first out, as on x86: mem has what
 * others see. A locked instruction waits until the buffer is empty; a taker's fence has the
 * kernel do that to all CPUs. What borrow looks at before it takes the word only refuses, and is left out.
 * The coroutine that is switched away goes on, on another VP, at once: inside, outside, inside.
 * On other CPUs the order of tick and cur must be kept as well: see CUR_BEFORE_TICK. */

#define OPS      3
#define TRIES    2
#define ME       1
#define BORROWED 128
#define LOST     127

mtype = { inside, cur, tick }

/* coroutines: 0 and 1 run threads, 2 is the base, which is always inside */
#define BASE 2

byte word = ME;
byte id = ME;             /* of coroutine 0, as detach writes it */
bool memInside[3];
byte memCur, memTick;
chan buffer = [4] of { mtype, byte, byte };
bool fenced;              /* no membarrier: threads pass a barrier of their own, and ... */
bool portable;            /* ... in the portable mode takers detach threads that run */
byte working;             /* how many work on the private state */
bool over;

inline put(what, who, value) { buffer!what(who, value) }
inline barrier() { empty(buffer) }
inline work() { working++; assert(working == 1); working-- }

active proctype drain() {
	mtype what; byte who, value;
end:	do
	:: atomic { buffer?what(who, value) ->
		if
		:: what == inside -> memInside[who] = value
		:: what == cur -> memCur = value
		:: what == tick -> memTick = value
		fi;
		value = 0; who = 0 }
	od
}

inline announce() {
	atomic { put(inside, c, 1); };
	barrier()
}

/* true: the coroutine has its VP. */
inline regains(has) {
	byte x, i;
	do
	:: announce();
#ifndef ID_FIRST
		x = word; i = id;
#else
		i = id; x = word;
#endif
		if
		:: i == LOST -> has = false; break
		:: i != LOST && x == i -> has = true; break
		:: else -> (word < BORROWED)      /* spins until it is given back */
		fi
	od;
	x = 0; i = 0
}

inline moveTick() { n++; put(tick, 0, n) }

inline switchTo(d) {
#ifndef CUR_BEFORE_TICK
	moveTick();
	put(cur, 0, d);
#else
	put(cur, 0, d);
	moveTick();
#endif
	barrier()                       /* the exchange of a status in Switch */
}

active proctype owner() {
	byte c = 0, ops = 0, n = 0;
	bool has;
	if :: fenced = false :: fenced = true :: fenced = true; portable = true fi;
	do
	:: ops == OPS -> break
	:: else -> ops++;
		/* Enter */
		put(inside, c, 1);
		has = true;
		if
		:: fenced || word != ME -> regains(has)
		:: else
		fi;
		if
		:: !has -> break                /* detached: it goes on as a goroutine, and queues itself */
		:: else
		fi;
		work();
		if
		:: true                         /* neither parks nor ends */
		:: moveTick()                   /* its thread ends, and its runner goes on with a fresh one */
		:: !portable -> /* it waits; the next one goes on; it is woken on another VP, and runs there */
			switchTo(1 - c);
			memInside[c] = 0; memInside[c] = 1;
			c = 1 - c
		:: !portable -> /* the same, but by way of the base, and then it comes back */
			put(cur, 0, BASE); barrier();
			work();
			memInside[c] = 0; memInside[c] = 1;
			switchTo(c)
		fi;
		work();
		put(inside, c, 0);
	od;
	over = true
}

active proctype taker() {
	byte tries = 0, t, c;
	memInside[1] = 1; memInside[BASE] = 1;
	do
	:: tries == TRIES -> break
	:: else -> tries++;
		atomic { word < BORROWED -> word = word + BORROWED };   /* borrow */
#ifndef NO_FENCE
		if :: fenced :: else -> barrier() fi;
#endif
		t = memTick; c = memCur;
		if
#ifndef NO_INSIDE
		:: memInside[c] -> goto refused
#endif
		:: else
		fi;
#ifndef NO_CUR
		if :: memCur != c -> goto refused :: else fi;
#endif
#ifndef NO_TICK
		if :: memTick != t -> goto refused :: else fi;
#endif
		working++; assert(working == 1); working--;
		if
		:: portable -> id = LOST; memCur = BASE;
			word = word - BORROWED;
			/* the base goes on with the VP */
			working++; assert(working == 1);
			break
		:: true
		fi;
refused:	word = word - BORROWED
	od
}
