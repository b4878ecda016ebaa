/* The fast wait of a thread in one queue (sched/wait.go: Wait), its waker (Pop, Wake), and a Cancel
 * (sched/cancel.go: Cancel, interrupt), which locks the queue without knowing that it still exists. The wait is ended
 * once, by the waker or by the canceler; a thread that is canceled before it waits does not wait.
 *
 *   inside   the thread is in an operation: quiet waits for its end. C1 to C4, T1 to T4: cancel.go
 *   queued   Waiter.q; under qmu
 *   exists   the queue, which the thread may free once its wait is over
 *
 * All words are sequentially consistent: the switch to the thread is a full barrier, and so is what sets asks. */

bool asks, hit, given, over;
bool xmu, qmu;
bool inside, queued, ready;
bool exists = true;

inline lock(l) { atomic { !l -> l = true } }

active proctype thread() {
	inside = true;
	lock(qmu);
	if
	:: asks -> qmu = false; inside = false      /* refused */
	:: else ->
		queued = true;                          /* T1 */
		inside = false;                         /* it is parked, and the next one unlocks */
		qmu = false;
		ready;                                  /* T3 */
#ifndef NO_LOOK
		if
		:: asks -> lock(xmu); xmu = false       /* T4 */
		:: else
		fi;
#endif
		exists = false;
		assert(hit + given == 1);
	fi;
	over = true
}

active proctype waker() {
	bool mine;
	lock(qmu);
	mine = queued;
	queued = false;                             /* T2 */
	qmu = false;
	if
	:: mine -> assert(!ready); given = true; ready = true
	:: else
	fi
}

active proctype canceler() {
	bool there;
	lock(xmu); asks = true; xmu = false;        /* C1 */
#ifndef NO_QUIET
	!inside;                                    /* C2 */
#endif
	lock(xmu);
	if
	:: queued ->                                /* C3 */
		assert(exists);
		lock(qmu);                              /* C4 */
		assert(exists);
#ifdef NO_SECOND_LOOK
		there = true;
#else
		there = queued;
#endif
		hit = there;
		queued = false;
		qmu = false
	:: else
	fi;
	xmu = false;
	if
	:: there -> assert(!ready); ready = true
	:: else
	fi;
	over
}
