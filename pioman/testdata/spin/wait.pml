/* No wake-up gets lost (pioman/README.md) in a program of goroutines: a waiter posts a request, polls, and sleeps on its
 * parker or, for all, in the kernel; another goroutine submits a task that is to run once, and computes; the progressor takes over
 * where no goroutine polls. The message arrives at any moment; the kernel announces it, but not the task. A state in which the waiter
 * sleeps for ever, or the task does not run, is a deadlock.
 *
 *   post     Engine.AddPending, wakePoller           waiter      wait.block
 *   poll     one round, with its Signals        sleepAs     sleeper.sleepAs, watch
 *   wake     progressor.wake                     progressor  await, needed, serve, progress
 *   attend   Engine.attend                      poster      Engine.Submit of a OneShot task
 *
 * A waiter that sleeps in the kernel may end there only with the model: init tells of one that does not go on.
 *
 * Naps are no states: when one is over depends on nothing. That goroutines poll may be believed for a while after they
 * have stopped; the model lets the progressor nap then, or look. All words are sequentially consistent in Go. */


byte pending;                      /* the load word */
bool asleep, watched;
bool posted, net, done;            /* the waiter's request is there; its message has arrived; a poll has found it */
bool once, ran;                    /* the task to run once is there; a poll has run it */
bool onSem, unit, onKernel;        /* the parker, and the unit of its semaphore */
byte holder;                       /* of the sleeper */
bool event;                        /* the eventfd */
bool over;

mtype = { off, watching, blocking };
mtype state = off;
chan bell = [1] of { bit };

#define arrived (posted && net && !done)

inline signal() {                  /* a compare-and-swap takes the list; the parker is another */
	done = true;
	if
	:: onSem -> onSem = false; unit = true
	:: onKernel -> onKernel = false; event = true
	:: !onSem && !onKernel
	fi
}

inline runOnce() { if :: once && !ran -> moved = true; ran = true; pending-- :: else fi }

inline pollOfWaiter() {            /* it sees its own request, and needs no wake */
	atomic { moved = false; if :: arrived -> moved = true; done = true :: else fi; runOnce() }
}

inline pollOfProgressor() {
	atomic { moved = false; if :: arrived -> moved = true; signal() :: else fi; runOnce() }
}

inline post() {                    /* AddPending, and what follows */
	atomic { pending++; first = (pending == 1 || asleep); wakes = asleep };
	if
	:: first ->
		watched = false;
		if
		:: wakes -> event = true                    /* no goroutine polls */
		:: true -> wake();
			if :: state == blocking -> event = true :: state != blocking fi
		fi
	:: !first
	fi
}

inline wake() {
	if
	:: atomic { state == off -> state = watching }; 
		atomic { if :: nfull(bell) -> bell!1 :: full(bell) fi }
	:: state != off
	fi
}

inline attend() {
	if
#ifdef NO_ATTEND
	:: true
#else
	:: pending != 0 -> wake()
	:: pending == 0
#endif
	fi
}

/* Sleep in the kernel as the holder ME, whose round is POLL. The last look before the sleep: a task to run, or the sources,
 * of which Arm says whether something is there. */
#define MARK atomic { asleep = true; watched = true }
#ifdef LOOKS_BEFORE_MARK
#define LOOK(POLL) POLL(); moved = moved || (once && !ran); MARK
#else
#define LOOK(POLL) MARK; POLL(); moved = moved || (once && !ran)
#endif

/* OWN is the caller's word, which its waker changes before it wakes the sleeper: a former holder may have taken that wake. */
#ifdef NO_OWN_WORD
#define LOOK_AT(OWN) mine = true
#else
#define LOOK_AT(OWN) mine = OWN
#endif

#define SLEEP(ME, POLL, OWN) \
	refused = false; \
	if \
	:: pending == 0 -> refused = true \
	:: pending != 0 -> \
		if \
		:: atomic { holder == 0 -> holder = ME }; LOOK_AT(OWN) \
		:: holder != 0 -> refused = true; event = true \
		fi \
	fi; \
	if \
	:: refused \
	:: !refused -> \
		LOOK(POLL); \
		if \
		:: !mine || moved || pending == 0 || arrived \
		:: else -> \
endKernel:		(event || arrived); event = false \
		fi; \
		atomic { asleep = false; watched = false }; \
		holder = 0; \
		POLL() \
	fi

active proctype waiter() {
	bool moved, refused, mine, led, first, wakes;
	posted = true;
	post();
	do
	:: done -> break
	:: !done ->
		if
		:: true                                     /* others poll, or want the P */
			crowded: skip;
			attend();
			onSem = true;
			if
			:: done -> if :: atomic { onSem -> onSem = false } :: atomic { unit -> unit = false } fi
			:: !done -> atomic { unit -> unit = false }
			fi
		:: true ->                                  /* polls in vain, then sleeps for all */
			pollOfWaiter();
			if
			:: done
			:: !done ->
				onKernel = true; led = true;
				if
				:: done -> onKernel = false
				:: !done ->                     /* if it is woken before it holds the sleeper, event says so */
					SLEEP(1, pollOfWaiter, onKernel);
					onKernel = false;
					if :: refused && !done -> goto crowded :: else fi
				fi
			fi
		fi
	od;
	atomic { pending--; over = true };
	if :: led -> attend() :: !led fi
}

active proctype poster() {
	bool first, wakes;
	once = true;
	post()
}

active proctype progressor() {
	bool moved, refused, mine;
await:
	state = off;
	if
	:: pending == 0 || watched ->
end:		bell?1
	:: pending != 0 && !watched
	fi;
	state = watching;
	do
	:: true ->                                      /* a nap, and the look after it */
		if
		:: pending == 0 -> goto await
		:: pending != 0 && watched -> goto await
		:: pending != 0 && !watched && asleep -> event = true
		:: pending != 0 && !asleep ->
			pollOfProgressor();
			if
			:: moved
			:: !moved ->
				state = blocking;
				SLEEP(9, pollOfProgressor, true);
				state = watching
			fi
		fi
	od
}

active proctype network() { net = true }

init { over && ran }
