/* No wake-up gets lost (pioman/README.md) in a program of goroutines: two waiters post a request each, poll, and sleep on
 * their parkers or, one of them for all, in the kernel; the progressor takes over where none polls. Two messages arrive at any
 * moment. A state in which a waiter sleeps for ever is a deadlock.
 *
 *   post     Engine.Need, rouse                 waiter      wait.block
 *   poll     one round, with its Signals        sleepAs     sleeper.sleepAs, watch
 *   rouse    progressor.rouse                   progressor  await, needed, serve, progress
 *   attend   Engine.attend
 *
 * Naps are no states: when one is over depends on nothing. That goroutines poll may be believed for a while after they
 * have stopped; the model lets the progressor nap then, or look. All words are sequentially consistent in Go. */

#define N 2
#define PROGRESSOR 9

byte pending;                      /* the load word */
bool asleep, watched;
bool posted[N], net[N], done[N];   /* a task is there; its message has arrived; a poll has found it */
bool onSem[N], unit[N], onKernel[N]; /* the parker, and the unit of its semaphore */
byte holder;                       /* of the sleeper */
bool event;                        /* the eventfd */
byte polling;                      /* goroutines that poll */
byte over;

mtype = { off, watching, blocking };
mtype state = off;
chan rung = [1] of { bit };

inline signal(k) {                 /* a compare-and-swap takes the list; each parker is one, too */
	done[k] = true;
	if
	:: onSem[k] -> onSem[k] = false; unit[k] = true
	:: !onSem[k] && onKernel[k] -> onKernel[k] = false; event = true
	:: else
	fi
}

inline poll() {
	atomic {
		moved = false;
		if :: posted[0] && net[0] && !done[0] -> moved = true; signal(0) :: else fi;
		if :: posted[1] && net[1] && !done[1] -> moved = true; signal(1) :: else fi
	}
}

#define arrived ((posted[0] && net[0] && !done[0]) || (posted[1] && net[1] && !done[1]))

inline rouse() {
	if
	:: atomic { state == off -> state = watching }; 
		if :: nfull(rung) -> rung!1 :: full(rung) fi
	:: state != off
	fi
}

inline attend() {
	if
#ifdef NO_ATTEND
	:: true
#else
	:: pending != 0 -> rouse()
	:: pending == 0
#endif
	fi
}

/* sleep in the kernel, as the holder me; mine: the caller's parker is still on the kernel. */
inline sleepAs(me, mine) {
	refused = false;
	if
	:: pending == 0 -> refused = true
	:: pending != 0 ->
		if
		:: atomic { holder == 0 -> holder = me }
		:: holder != 0 -> refused = true; event = true   /* it is to look again */
		fi
	fi;
	if
	:: refused
	:: !refused && !(mine) -> holder = 0
	:: !refused && (mine) ->
#ifdef POLLS_BEFORE_MARK
		poll();
		atomic { asleep = true; watched = true };
#else
		atomic { asleep = true; watched = true };
		poll();
#endif
		if
		:: moved || pending == 0
		:: !moved && pending != 0 ->
			if
			:: arrived                          /* Arm says no */
			:: !arrived -> 
endKernel:		(event || arrived); event = false    /* the progressor may end here; init tells of a waiter that does */
			fi
		fi;
		atomic { asleep = false; watched = false };
		holder = 0;
		poll()
	fi
}

proctype waiter(byte i) {
	bool moved, refused, led, first;
	posted[i] = true;
	atomic { pending++; first = (pending == 1 || asleep) };
	if
	:: first -> watched = false; rouse();
		if :: state == blocking -> event = true :: state != blocking fi
	:: !first
	fi;
	do
	:: done[i] -> break
	:: !done[i] ->
		if
		:: true                                     /* others poll, or want the P */
			crowded: skip;
			attend();
			onSem[i] = true;
			if
			:: done[i] -> if :: atomic { onSem[i] -> onSem[i] = false } :: atomic { unit[i] -> unit[i] = false } fi
			:: !done[i] -> atomic { unit[i] -> unit[i] = false }
			fi
		:: true ->                                  /* polls in vain, then sleeps for all */
			polling++; poll(); polling--;
			if
			:: done[i]
			:: !done[i] ->
				onKernel[i] = true; led = true;
				if
				:: done[i] -> onKernel[i] = false
				:: !done[i] ->
					sleepAs(i + 1, onKernel[i]);
					onKernel[i] = false;
					if :: refused && !done[i] -> goto crowded :: else fi
				fi
			fi
		fi
	od;
	atomic { pending--; over++ };
	if :: led -> attend() :: !led fi
}

active proctype progressor() {
	bool moved, refused;
await:
	state = off;
	if
	:: pending == 0 || watched ->
end:		rung?1
	:: pending != 0 && !watched
	fi;
	state = watching;
	do
	:: polling > 0 || true ->                       /* a nap, and the look after it */
		if
		:: pending == 0 -> goto await
		:: pending != 0 && watched -> goto await
		:: pending != 0 && !watched && asleep -> event = true
		:: pending != 0 && !asleep ->
			poll();
			if
			:: moved
			:: !moved ->
				state = blocking;
				sleepAs(PROGRESSOR, true);
				state = watching
			fi
		fi
	od
}

proctype network(byte i) { net[i] = true }

init {
	atomic {
		run waiter(0); run waiter(1); run network(0); run network(1)
	}
	over == N
}
