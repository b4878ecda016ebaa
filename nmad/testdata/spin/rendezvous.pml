/* A rendezvous over two rails: announced, asked for in chunks, moved; with a receive that is canceled,
 * a close by either side, and a loss.
 *
 *   sender           a program: it starts the send, waits for it, and uses its buffer for something else
 *   senderGate       the poller of its gate: rendezvous.go: handleRtr; progress.go: drain; closing.go: handleBye
 *   pusher           transfer.go: reserve, copy, complete; stream.go: Complete, completeLate; of the push transfer of one rail
 *   senderCloses     Session.Close: gate_close.go: beginClose, sayBye, shut
 *   failSends, sFail sender.go: FailSends; stream.go: failStream; gate_close.go: fail
 *   receiver         a program: it posts a receive; if that is canceled another one
 *   canceler         another thread: request.go: Cancel, of the first receive
 *   receiverGate     the poller of that gate: receiver.go: announcement; rendezvous.go: packNextRtr, share; closing.go: takeLeave
 *   puller           as pusher, for the pull transfer
 *   receiverCloses   as senderCloses
 *   failRecvs, rFail receiver.go: failReceives; and as above
 *   loss             a link that breaks, or a peer that dies: the other side cannot tell
 *
 * A section under the lock of the gate is one step. Bytes are copied without the lock: that is a step of its own between
 * taking a piece and bringing it home.
 *
 * Properties. No transfer touches the buffer of a request that has ended, nor a link that was closed. The message comes to one
 * receive, whole, each byte in its place; a receive that was canceled has nothing of it. Each request ends once. RTR names a
 * send that waits for it, unless that was given up. If the send ends well, and nothing breaks, and the receiver does not
 * close, the receive ends well. In the end all requests have ended, and no transfer has anything.
 *
 * Mutations, and what each one leads to:
 *   CANCEL_LATE      a receive is canceled when its message is being asked for: its buffer is written to later
 *   FAIL_AWAY        a send fails while a transfer copies out of its buffer
 *   FAIL_INTO        a receive fails while a transfer copies into its buffer
 *   FORGET_EARLY     the sender forgets a message at its first RTR: the send ends well with half of it
 *   STRICT_RTR       an RTR for a send that was given up a moment ago counts as a breach
 *   NO_RESUME        what was deferred is not asked for when a rail is idle
 *   LEAVE_AT_BYE     a gate ends at BYE, with bytes on their way: the send has ended well, the receive does not
 *   BYE_WHILE_AWAY   BYE leaves while a transfer is copying: it counts less than the peer gets
 *   BOTH_FROM_START  the second chunk is asked for from the first byte on
 *   CLOSE_WHILE_AWAY the link is closed under a transfer
 *
 * Bounds: one message of two pieces, two rails with room for a piece each, room for one packet each way; of a close by the
 * sender, one by the receiver, and a loss, one; or none.
 * Left out: messages that are not as long as the buffer, several messages on a rail, what a holder of the lock finds when he has let
 * it go (loan.pml), buffers that a link keeps (driver.Caps.Borrows). */

mtype = { rdv, rtr, bye, byeAck };                                                    /* packets */
mtype = { idle, queued, announced, pushing, posted, answering, deferred, pulling, done };  /* stages */

#define pieces 2
#define room(c) (len(c) == 0)
#define some(c) (len(c) > 0)
#define none 2

chan toR = [1] of { mtype, byte };                      /* BYE: bytes pushed */
chan toS = [1] of { mtype, byte, byte, byte, bit };     /* RTR: from, pieces, rail, more to come */
chan track0 = [1] of { byte };                          /* the large tracks: which piece */
chan track1 = [1] of { byte };
bool lost;                      /* the links */
bool broken;                    /* by a loss, or as Close has waited for long enough */
bool calm;                      /* nothing is closed or lost in this run */

/* The sender's side. */
mtype stage = idle;             /* of the send */
bool failed, cookie, sDead, sEnd, sBroken, sClosed;
bool byeSentS, owesByeS, owesAckS, ackedS;
byte sAsked, sMoved, sChunks, pushed;
bool sAway[2];
chan push0 = [2] of { byte };   /* the queues of the transfers; the head is what is being moved */
chan push1 = [2] of { byte };

/* The receiver's side. */
mtype rstage[2] = idle;         /* of the receives */
byte cur = none;                /* which one has the message */
bool got, canceled, unexpected, rDead, rEnd, rBroken, rClosed, closesR;
bool byeSentR, owesByeR, owesAckR, ackedR, byeSeen;
byte rAsked, rMoved, rChunks, pulled, byeTotal;
bool rAway[2];
chan pull0 = [2] of { byte };
chan pull1 = [2] of { byte };

/* Flow.failStream: all pieces of the queue but that which is away. */
inline clearQueue(q, isAway, chunks, x) {
	if
	:: len(q) == 2 && isAway -> q?x; q?_; q!x; chunks--
	:: len(q) == 2 && !isAway -> q?_; q?_; chunks = chunks - 2
	:: len(q) == 1 && !isAway -> q?_; chunks--
	:: else
	fi
}

/* ---- The sender's side ---- */

inline sDone(e) { assert(stage != done); stage = done; failed = e }

inline failSends(x) {
	sBroken = true; cookie = false;
	clearQueue(push0, sAway[0], sChunks, x);
	clearQueue(push1, sAway[1], sChunks, x);
	if
	:: stage == idle || stage == done
#ifndef FAIL_AWAY
	:: stage != idle && stage != done && sChunks != 0       /* it ends with the last of them */
	:: stage != idle && stage != done && sChunks == 0 -> sDone(true)
#else
	:: else -> sDone(true)
#endif
	fi;
	x = 0
}

inline sFail(x) {
	if
	:: sEnd
	:: else -> sEnd = true; sDead = true; failSends(x)
	fi
}

inline sDrain() {
	if
	:: stage == queued && room(toR) && !lost -> toR!rdv(0); stage = announced; cookie = true
	:: else
	fi;
	if
	:: owesAckS && room(toR) && !lost -> toR!byeAck(0); owesAckS = false
	:: else
	fi;
	if
#ifndef BYE_WHILE_AWAY
	:: owesByeS && room(toR) && !lost && !sAway[0] && !sAway[1] -> toR!bye(pushed); owesByeS = false
#else
	:: owesByeS && room(toR) && !lost -> toR!bye(pushed); owesByeS = false
#endif
	:: else
	fi
}

proctype sender() {
	atomic {
		if
		:: sDead -> sDone(true)
		:: else -> stage = queued; sDrain()
		fi
	};
	stage == done
}

proctype senderGate() {
	byte from, n, rail, x;
	bit more;
end:	do
	:: atomic { toS?[rtr] -> toS?rtr(from, n, rail, more);
			if
			:: !cookie ->
#ifndef STRICT_RTR
				assert(byeSentS || sEnd)        /* its send was given up a moment ago */
#else
				assert(sEnd)
#endif
			:: else ->
				assert(from == sAsked && n > 0 && n <= pieces - sAsked && more == (sAsked + n < pieces));
				do
				:: n > 0 ->
					if
					:: rail == 0 -> push0!sAsked
					:: else -> push1!sAsked
					fi;
					sAsked++; sChunks++; n--
				:: else -> break
				od;
#ifndef FORGET_EARLY
				if
				:: !more -> cookie = false; stage = pushing
				:: else
				fi
#else
				cookie = false; stage = pushing
#endif
			fi;
			from = 0; n = 0; rail = 0; more = 0 }
	:: atomic { toS?[byeAck] -> toS?byeAck(_, _, _, _); ackedS = true }
	:: atomic { toS?[bye] -> toS?bye(_, _, _, _); owesAckS = true; sFail(x); sDrain() }
	:: atomic { !lost && room(toR) && (owesAckS || stage == queued || owesByeS && !sAway[0] && !sAway[1]) -> sDrain() }
	:: atomic { lost && !some(toS) && !sEnd -> sFail(x) }
	od
}

/* A piece that has come home: its request goes on, or ends. */
inline pushHome(i, q, moved, x) {
	sAway[i] = false;
	if
	:: sBroken ->           /* completeLate */
		q?_; sChunks--;
		if
		:: moved -> sMoved++; pushed++
		:: else
		fi;
		if
		:: stage == pushing && sMoved == sAsked -> sDone(false)
		:: stage != done && !(stage == pushing && sMoved == sAsked) && sChunks == 0 -> sDone(true)
		:: else
		fi
	:: !sBroken && !moved -> sFail(x)
	:: !sBroken && moved ->
		q?_; sChunks--; sMoved++; pushed++;
		if
		:: stage == pushing && sMoved == sAsked -> sDone(false)
		:: else
		fi
	fi;
	sDrain()
}

proctype pusher(byte i; chan q; chan track) {
	byte u, x;
	bool moved;
end:	do
	:: atomic { some(q) && !sAway[i] && !sBroken && (room(track) || lost) -> sAway[i] = true };
		atomic {        /* without the lock */
			assert(stage != done && !sClosed);
			q?<u>;
			if
			:: lost -> moved = false
			:: else -> track!u; moved = true
			fi
		};
		atomic { pushHome(i, q, moved, x); u = 0; moved = false }
	od
}

proctype senderCloses() {
	byte x;
	sDead = true;                           /* beginClose; then it waits for its sends, or for as long as it may */
	atomic {                                /* sayBye */
		if
		:: sEnd
		:: else -> byeSentS = true; owesByeS = true; failSends(x); sDrain()
		fi
	};
	if
	:: ackedS || sEnd
	:: broken = true                        /* it has waited for long enough */
	fi;
	atomic { sFail(x) };                    /* shut */
#ifndef CLOSE_WHILE_AWAY
	!sAway[0] && !sAway[1];
#endif
	atomic { sClosed = true; lost = true }
}

/* ---- The receiver's side ---- */

inline rDone(k) { assert(rstage[k] != done); rstage[k] = done }

inline failRecvs(x) {
	rBroken = true;
	clearQueue(pull0, rAway[0], rChunks, x);
	clearQueue(pull1, rAway[1], rChunks, x);
	if
	:: rstage[0] == posted -> rDone(0)
	:: rstage[1] == posted -> rDone(1)
	:: else
	fi;
	if
	:: cur == none
	:: cur != none && rstage[cur] == done
#ifndef FAIL_INTO
	:: cur != none && rstage[cur] != done && rChunks != 0
	:: cur != none && rstage[cur] != done && rChunks == 0 -> rDone(cur)
#else
	:: cur != none && rstage[cur] != done -> rDone(cur)
#endif
	fi;
	x = 0
}

inline rFail(x) {
	if
	:: rEnd
	:: else -> rEnd = true; rDead = true; failRecvs(x)
	fi
}

#ifndef BOTH_FROM_START
#define begins rAsked
#else
#define begins 0
#endif

/* Asks for n pieces over a rail; then for no more, for more when a rail is idle, or for more at once. */
inline ask(n, rail, next) {
	toS!rtr(begins, n, rail, (rAsked + n < pieces));
	if
	:: rail == 0 -> pull0!rAsked
	:: else -> pull1!rAsked
	fi;
	rAsked++; rChunks++;
	if
	:: n == 2 -> pull0!rAsked; rAsked++; rChunks++
	:: else
	fi;
	rstage[cur] = next
}

inline rDrain() {
	if
	:: cur != none && rstage[cur] == answering && rAsked == 0 && !rBroken && room(toS) && !lost ->
		if
		:: ask(2, 0, pulling)
		:: ask(1, 0, deferred)
		:: ask(1, 0, answering)
		:: ask(1, 1, deferred)
		fi
	:: cur != none && rstage[cur] == answering && rAsked == 1 && !rBroken && room(toS) && !lost ->
		if
		:: ask(1, 0, pulling)
		:: ask(1, 1, pulling)
		fi
	:: else
	fi;
	if
	:: owesAckR && room(toS) && !lost -> toS!byeAck(0, 0, 0, 0); owesAckR = false
	:: else
	fi;
	if
	:: owesByeR && room(toS) && !lost && !rAway[0] && !rAway[1] -> toS!bye(0, 0, 0, 0); owesByeR = false
	:: else
	fi
}

inline takeLeave(x) {
	if
	:: !byeSeen || rEnd
#ifndef LEAVE_AT_BYE
	:: byeSeen && !rEnd && rChunks != 0 && !rDead && pulled < byeTotal
	:: byeSeen && !rEnd && !(rChunks != 0 && !rDead && pulled < byeTotal) -> owesAckR = true; rFail(x)
#else
	:: byeSeen && !rEnd -> owesAckR = true; rFail(x)
#endif
	fi
}

inline post(k) {
	atomic {
		if
		:: rDead -> rDone(k)
		:: !rDead && unexpected -> unexpected = false; cur = k; rstage[k] = answering; rDrain()
		:: !rDead && !unexpected -> rstage[k] = posted
		fi
	};
	rstage[k] == done
}

proctype receiver() {
	post(0);
	if
	:: canceled -> assert(cur != 0); post(1)
	:: else
	fi
}

proctype canceler() {
	atomic {
		if
		:: rstage[0] == posted -> canceled = true; rDone(0)
#ifdef CANCEL_LATE
		:: rstage[0] == answering || rstage[0] == pulling || rstage[0] == deferred -> canceled = true; rDone(0)
#endif
		:: else
		fi
	}
}

proctype receiverGate() {
	byte n, x;
end:	do
	:: atomic { toR?[rdv] -> toR?rdv(_);
			if
			:: rDead
			:: !rDead && rstage[0] == posted -> cur = 0; rstage[0] = answering
			:: !rDead && rstage[1] == posted -> cur = 1; rstage[1] = answering
			:: else -> unexpected = true
			fi;
			rDrain() }
	:: atomic { toR?[bye] -> toR?bye(n);
			assert(n >= pulled);
			byeSeen = true; byeTotal = n; n = 0;
			takeLeave(x); rDrain() }
	:: atomic { toR?[byeAck] -> toR?byeAck(_); ackedR = true }
	:: atomic { room(toS) && !lost && (owesAckR || owesByeR && !rAway[0] && !rAway[1] || cur != none && rstage[cur] == answering && !rBroken) -> rDrain() }
	:: atomic { lost && !some(toR) && !rEnd -> rFail(x) }
	od
}

inline pullHome(i, q, moved, x) {
	rAway[i] = false;
	if
	:: rBroken ->
		q?_; rChunks--;
		if
		:: moved -> rMoved++; pulled++
		:: else
		fi;
		if
		:: rMoved == pieces -> got = true; rDone(cur)
		:: rMoved != pieces && rChunks == 0 -> rDone(cur)
		:: else
		fi
	:: !rBroken && !moved -> rFail(x)
	:: !rBroken && moved ->
		q?_; rChunks--; rMoved++; pulled++;
		if
		:: rMoved == pieces -> got = true; rDone(cur)
		:: else
		fi;
#ifndef NO_RESUME
		if
		:: rstage[cur] == deferred && !some(q) -> rstage[cur] = answering
		:: else
		fi;
#endif
		takeLeave(x)
	fi;
	rDrain()
}

proctype puller(byte i; chan q; chan track) {
	byte u, v, x;
	bool moved;
end:	do
	:: atomic { some(q) && !rAway[i] && !rBroken && (some(track) || lost) -> rAway[i] = true };
		atomic {        /* without the lock */
			assert(rstage[cur] != done && !rClosed);
			q?<u>;
			if
			:: some(track) -> track?v; assert(u == v); moved = true
			:: else -> moved = false
			fi
		};
		atomic { pullHome(i, q, moved, x); u = 0; v = 0; moved = false }
	od
}

proctype receiverCloses() {
	byte x;
	atomic { closesR = true; rDead = true; failRecvs(x) };  /* beginClose */
	atomic {                                                /* sayBye */
		if
		:: rEnd
		:: else -> byeSentR = true; owesByeR = true; rDrain()
		fi
	};
	if
	:: ackedR || rEnd
	:: broken = true
	fi;
	atomic { rFail(x) };                                    /* shut */
#ifndef CLOSE_WHILE_AWAY
	!rAway[0] && !rAway[1];
#endif
	atomic { rClosed = true; lost = true }
}

proctype loss() { atomic { broken = true; lost = true } }

init {
	atomic {
		run sender(); run senderGate(); run pusher(0, push0, track0); run pusher(1, push1, track1);
		run receiver(); run receiverGate(); run puller(0, pull0, track0); run puller(1, pull1, track1);
		run canceler();
		if
		:: run senderCloses()
		:: run receiverCloses()
		:: run loss()
		:: calm = true
		fi
	};
	timeout;
	assert(stage == done && rstage[0] == done && (!canceled || rstage[1] == done));
	assert(sChunks == 0 && rChunks == 0 && !some(push0) && !some(push1) && !some(pull0) && !some(pull1));
	assert(failed || got || broken || closesR);
	assert(!got || rMoved == pieces);
	assert(calm && !failed && got || !calm && sEnd && rEnd)
}
