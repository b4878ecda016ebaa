/*
 * A thread is asked to stop, stops where it happens to be (also inside the scheduler, when
 * vp.cur is another one already), and is claimed, or goes on, or the request is withdrawn.
 *
 * watch.go: ask, claimStopped    clock.go: inspect    stopper.go: pursue, follow
 * direct/switch_*.s: AskStop, ClaimStopped, Withdraw    lwp.go: resume
 *
 * The stopper is one process, as it is one OS thread, so its transitions under the scan bit are
 * single steps. Looks of follow stand for time: what is late is withdrawn. The word is borrowed to
 * others never here: see word.pml. The thread holds a lock inside, for which the clock waits
 * once it has asked.
 */
mtype = { running, preempted, ready, parked };

mtype g = running;
bit asked, inside, cur = 1, queued, base, done, lock, who;
byte onM = 1;

/* At each point the thread stops, if it was asked. */
inline point() {
	atomic {
		if
		:: asked -> g = preempted; onM = onM - 1
		:: else -> goto_on = 1
		fi
	}
	if
	:: goto_on -> goto_on = 0
	:: else -> atomic { g == ready -> g = running; onM++; assert(onM == 1) }
	fi
}

proctype Thread() {
	bit goto_on;
	point();
	inside = 1;
	atomic { !lock -> lock = 1 }
	point();
	lock = 0;
	cur = 0; /* on its way out of the VP */
	point();
	cur = 1; /* refused: it comes back */
	point();
	inside = 0;
	point();
	atomic { done = 1; onM-- }
}

proctype Base() {
end:	do
	:: atomic { base -> onM++; assert(onM == 1) }
		assert(queued);
		atomic { queued = 0; base = 0; onM--; g = ready } /* resume: switchTo */
	od
}

proctype Clock() {
	if :: g == running && cur && !inside -> atomic { if :: g == running -> asked = 1; who = 1 :: else fi } :: true fi;
	atomic { !lock -> lock = 1 }
	lock = 0
#ifdef CLOCK_FOLLOWS
	;
	run Stopper()
#endif
}

proctype Stopper() {
end:	do
	:: who && cur && g == preempted -> /* claimStopped */
		atomic {
			asked = 0;
			if
#ifndef NO_INSIDE_CHECK
			:: inside -> g = ready
#endif
			:: else -> assert(!inside); g = parked; queued = 1; base = 1
			fi
		}
		who = 0
#ifndef NO_FOLLOW
	:: who -> /* follow: Withdraw */
		atomic {
#ifndef NO_WITHDRAW
			asked = 0;
#endif
			if :: g == preempted -> g = ready; asked = 0 :: else fi
		}
		who = 0
#else
	:: who && !cur -> who = 0
#endif
	od
}

init {
	atomic {
		run Thread(); run Base(); run Clock()
#ifndef CLOCK_FOLLOWS
		; run Stopper()
#endif
	}
	timeout -> assert(done)
}
