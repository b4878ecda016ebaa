/*
 * The network of a process puts into memory of another one, the owner, which closes that memory meanwhile; as the
 * package's documentation says. The network looks at the key only when a put begins. Channels are contexts of messages:
 * an answer may be overtaken by the owner's question. A step that is atomic here holds the lock of the peer's ways. The
 * owner may take the process for lost at any time; then its driver cuts the connection.
 *
 *   EARLY_CLOSE       the owner asks before the requests in the memory have been answered
 *   NO_QUESTION       the owner does not ask
 *   NO_CUT            the driver of the owner closes the key of a process that is lost, and does not cut the connection
 *   NO_COMPARISON     the process enters a way though one was taken back since it has sent the request
 *   EARLY_ANSWER      the process answers although puts are under way
 *   LATE_COUNT        a put counts itself after its look at the way
 */
chan requests = [1] of { bit };
chan answers = [1] of { bit };      /* 1: with a way */
chan questions = [1] of { bit };

/* the owner */
bool closing, taught, lost, registered = true, cut, closed;
byte uses;                          /* requests under way in the memory */

/* the process */
bool known, asked;                  /* it knows the way; it has to answer the owner */
byte revoked, underway;             /* ways that were taken back; puts under way */
bool writing;                       /* the network moves bytes into the memory */
bool answered;                      /* its answer has come */

active proctype learner()
{
	byte before;
	bit way;
	before = revoked;
	requests ! 1;
	answers ? way;
	atomic {
		if
#ifndef NO_COMPARISON
		:: way && before == revoked -> known = true
		:: else
#else
		:: way -> known = true
		:: else
#endif
		fi
	}
}

active proctype putter()
{
	byte i = 0;
	do
	:: i == 2 -> break
	:: else ->
#ifdef LATE_COUNT
		if
		:: known -> underway++
		:: else -> goto next
		fi;
#else
		atomic {
			if
			:: known -> underway++
			:: else -> goto next
			fi
		}
#endif
		atomic {
			if
			:: registered && !cut -> writing = true
			:: else -> goto over
			fi
		}
		assert(!closed || cut);
		writing = false;
over:		atomic {
			underway--;
			if
			:: asked && underway == 0 -> asked = false; answered = true
			:: else
			fi
		}
next:		i++
	od
}

/* the callback of the process, for questions of the owner */
active proctype callback()
{
end:	questions ? 1;
	atomic {
		revoked++;
		known = false;
#ifndef EARLY_ANSWER
		if
		:: underway == 0 -> answered = true
		:: else -> asked = true
		fi
#else
		answered = true
#endif
	}
}

/* the callback of the owner, for requests */
active proctype answerer()
{
	bit way = 0;
	requests ? 1;
	uses++;
	if
	:: !closing -> taught = true; way = 1
	:: closing
	fi;
	uses--;
	answers ! way
}

/* the network of the owner finds the process lost, although it may go on */
active proctype failure()
{
end:	if
	:: closing -> lost = true
	fi
}

active proctype owner()
{
	closing = true;
#ifndef EARLY_CLOSE
	uses == 0;
#endif
#ifndef NO_QUESTION
	if
	:: taught ->
		questions ! 1;
		answered || lost
	:: !taught
	fi;
#endif
	registered = false;
#ifndef NO_CUT
	if
	:: lost -> cut = true
	:: !lost
	fi;
#endif
	closed = true;
	assert(!writing || cut)
}
