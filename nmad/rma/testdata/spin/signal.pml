/*
 * A waiter polls a word of its own, which a signaler of another process changes in memory that both map, and sleeps
 * as the package's documentation says: by the word sleeping and a message whose callback wakes. A message that is not done
 * keeps the next one from being sent at once. Memory is sequentially consistent: the change of the word and that
 * of sleeping are full fences.
 *
 *   NO_SECOND_LOOK   the waiter sleeps without looking once more
 *   EARLY_LOOK       the signaler looks at sleeping before it changes the word
 *   LATE_COUNT       the waiter counts itself after its last look
 *   NO_AGAIN         a signaler that finds a message under way sends none after it
 */
#define SIGNALS 3

byte word;                     /* of the waiter */
byte sleeping;                 /* in the waiter's page */
bool listed, woken;            /* the list of sleepers, which has room for one */
mtype = { wakerIdle, wakerSent, wakerAgain };
mtype waker = wakerIdle;
chan wire = [2] of { bit };    /* messages that have left */
bool unfinished;               /* one has left, and its sender does not know */

inline wake()
{
	atomic {
		if
		:: waker == wakerIdle -> waker = wakerSent; wire ! 1; unfinished = true
#ifndef NO_AGAIN
		:: waker == wakerSent -> waker = wakerAgain
#endif
		:: else
		fi
	}
}

active proctype signaler()
{
	byte i = 0, saw = 0;
	do
	:: i == SIGNALS -> break
	:: else ->
#ifdef EARLY_LOOK
		saw = sleeping;
#endif
		word++;
#ifndef EARLY_LOOK
		saw = sleeping;
#endif
		if
		:: saw > 0 -> wake()
		:: else
		fi;
		i++
	od
}

/* the network of the signaler tells that a message is done, at any time after it has left */
active proctype sender()
{
end:	do
	:: atomic { unfinished ->
		unfinished = false;
		if
		:: waker == wakerAgain -> waker = wakerSent; wire ! 1; unfinished = true
		:: else -> waker = wakerIdle
		fi }
	od
}

/* the callback of the waiter's process */
active proctype callback()
{
end:	do
	:: wire ? 1 ->
		atomic {
			if
			:: listed -> woken = true
			:: else
			fi
		}
	od
}

active proctype waiter()
{
	byte want = 1;
	do
	:: want > SIGNALS -> break
	:: else ->
		do
		:: word >= want -> break
		:: else ->
#ifndef LATE_COUNT
			sleeping++;
#endif
			atomic { listed = true; woken = false };
#ifndef NO_SECOND_LOOK
			if
			:: word >= want -> skip
			:: else ->
#endif
#ifdef LATE_COUNT
				sleeping++;
#endif
				woken
#ifndef NO_SECOND_LOOK
			fi
#endif
			;
			listed = false;
#ifdef LATE_COUNT
			if
			:: sleeping > 0 -> sleeping--
			:: else
			fi
#else
			sleeping--
#endif
		od;
		want++
	od
}
