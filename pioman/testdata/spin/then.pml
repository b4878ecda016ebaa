/* The functions of Then that are due (pioman/then.go): each is called once, and never two at a time, whichever of
 * signaler, poller and Close comes first. Function 0 makes function 2 due.
 *
 *   push     due.push, in fire; the nested callDue of a function finds the queue held and goes
 *   callDue  callDue, callAll
 *   closer   Engine.Close: from then on no poller makes a round
 *
 * All words are sequentially consistent in Go. */

#define N 3

byte head;               /* a bit for each function that is due */
bool holder, closed;
byte called[N];
byte inside, over;

inline push(f) { head = head | (1 << f) }

inline callDue() {
	do
	:: head == 0 -> break
	:: else ->
#ifdef NO_TRYLOCK
		mine = true;
#else
		atomic { mine = !holder; holder = true };
#endif
		if
		:: !mine -> break
		:: mine ->
			atomic { list = head; head = 0 };
			inside++; assert(inside == 1);
			do
			:: list & 1 -> called[0]++; assert(called[0] == 1); list = list & 6; push(2)
			:: list & 2 -> called[1]++; assert(called[1] == 1); list = list & 5
			:: list & 4 -> called[2]++; assert(called[2] == 1); list = list & 3
			:: list == 0 -> break
			od;
			inside--;
#ifdef LOOKS_BEFORE_RELEASE
			again = (closed && head != 0); holder = false;
#else
			holder = false; again = closed;
#endif
#ifdef ONE_PASS
			again = false;
#endif
			if
			:: again
			:: !again -> break
			fi
		fi
	od
}

proctype signaler(byte f) {
	bool mine, again; byte list;
#ifdef CLOSED_BEFORE_PUSH
	again = closed; push(f);
#else
	push(f); again = closed;
#endif
	if
	:: again -> callDue()
	:: else
	fi;
	over++
}

active proctype poller() {
	bool mine, again; byte list;
	do
	:: !closed -> callDue()
	:: break
	od;
	over++
}

active proctype closer() {
	bool mine, again; byte list;
	closed = true;
	do
#ifdef CLOSE_WAITS_FOR_NONE
	:: break
#endif
	:: head == 0 && !holder -> break
	:: else -> callDue()
	od;
	over++
}

init {
	atomic { run signaler(0); run signaler(1) };
	(over == 4);
	assert(called[0] == 1 && called[1] == 1 && called[2] == 1)
}
