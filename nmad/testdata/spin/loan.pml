/* A message that is lent: the receiver reads it in the sender's memory, and gives it back.
 *
 *   sender           a program: buffer.go: Alloc, Buffer.Release; operation.go: Post, in any order with what goes on
 *   senderGate       the poller of its gate: lending.go: handleReturn; rendezvous.go: handleRtr; closing.go: handleBye; gate_close.go: lose
 *   senderCloses     Session.Close: gate_close.go: beginClose, sayBye, shut; what it waits for may take too long
 *   sDone            flow.go: Finish; completion.go: tellDone; buffer.go: sendDone
 *   sFail            gate_close.go: fail; sender.go: FailSends; buffer.go: end, endLoans. Alloc and Release come in between, as they take only the lock of the blocks
 *   reader           a program: it posts a receive that takes loans, or none; reads; loan.go: Loan.Release
 *   other            another thread, which releases the same loan
 *   readerGate       the poller of that gate: lending.go: handleLoan, giveLoan, Release; inbox.go: takeReleased; receiver.go: deliver
 *   readerCloses     as senderCloses
 *   carrier          transfer.go: copy, as something else that is left for the holder of the lock of the gate
 *   leaveReleased, notice loan.go: Release; inbox.go: leaveReleased
 *   letGo, left      progress.go: unlock; inbox.go: left
 *   loss             a link that breaks, or a peer that dies: the other side cannot tell
 *
 * A section under the lock of the gate is one step where no other thread could see its middle.
 *
 * Properties. The block is not given out again, and no send of it ends well, while the receiver may read it (live). What
 * is read is what was sent, and mapped; unless the send has failed: then the sender's program has its buffer again. Each
 * request ends once. A handle that is stale does nothing. RETURN names a send that waits for it, unless that was given up. In the end the block is
 * free; if the gates have ended, the memory is freed on one side and unmapped on the other, not before the last buffer and the last
 * loan were released. Nothing is left behind for a holder of the lock that does not come; and no thread runs for ever, even if all others stand still.
 *
 * Mutations, and what each one leads to:
 *   RETURN_EARLY     RETURN leaves when the loan is taken: its send ends while it is read
 *   PUT_WHILE_OUT    a buffer that is released while it is sent is free at once: it is given out while it is read
 *   SENDS_FIRST      sends fail before the pool ends: likewise
 *   NO_TURN          handles do not know when they are stale: one gives away what another one has
 *   NO_LEASE_TURN    loans do not, either: one is returned twice
 *   NO_LOOK          the holder of the lock looks at nothing when it has let it go: a loan is never returned
 *   SPIN_ON_DEBT     it looks for due != 0: one that was taken in before it was counted has it look again and again
 *   NO_HOLD          no poll comes for a RETURN that had no room: likewise
 *   NO_PUT_AWAY      what is released after BYE waits for RETURN all the same: it is never put away
 *   UNMAP_AT_END     the view goes with the gate: what is read is not there
 *   STRICT_RETURN    a RETURN for a send that was given up a moment ago counts as a breach
 *   FREE_WHILE_TAKEN the memory goes with the gate: a buffer of a program is not there
 *
 * Bounds: one block, one message, room for one packet each way; of a close by the sender, one by the receiver, and a loss, one; or
 * none, and then two threads that release, and a transfer that is copied.
 * Left out: how blocks are found (pages.go), and the memory (internal/mapped), probes and claims, a RTR with more to come (rendezvous.pml),
 * a program that writes into a buffer that it has released, two loans at once. */

#define FINITE

mtype = { loan, give, rtr, bye, byeAck, message };      /* packets; give stands for RETURN */
mtype = { idle, queued, announced, moving, done };      /* stages of a request */
mtype = { held, out, givenUp };                         /* states of a block */

#define room(c) (len(c) == 0)
#define some(c) (len(c) > 0)

chan toR = [1] of { mtype };
chan toS = [1] of { mtype };
chan bytes = [1] of { bit };    /* the large track */
bool lost;                      /* the link */
bool calm;                      /* nothing is closed or lost in this run */

/* The sender's side. There is one block, so that it is given out again at once. */
bool sLock, sDead, sEnd, byeSentS, owesByeS, owesAckS, ackedS;
mtype stage = idle;             /* of the send */
bool failed;                    /* it has ended with an error */
byte turn = 1;                  /* odd: the block is taken, at first by sender */
mtype state = held;             /* of the block, if it is */
byte content;                   /* of the block: which Alloc has filled it; 0: another owner, after its send */
bool poolDead, gone;            /* gone: its memory was freed */

/* The receiver's side. */
bool rLock, rDead, rEnd, byeSentR, owesByeR, owesAckR, ackedR, byeSeen;
mtype rstage = idle;            /* of the receive */
bool takes;                     /* it takes loans */
bool live;                      /* it has a loan, which was not released */
bool unexpected, answers;       /* the announcement is kept; RTR waits for room */
bool released, returns;         /* the loan stands in inbox.released, in lent.returns */
byte outside;                   /* lent.out */
bool mapped;                    /* lender.view */
short due;
bool there;                     /* a transfer is copied */

/* ---- The sender's side ---- */

inline leavePool() {
	if
#ifndef FREE_WHILE_TAKEN
	:: poolDead && turn % 2 == 0 && !gone -> gone = true
#else
	:: poolDead && !gone -> gone = true
#endif
	:: else
	fi
}

/* flow.go: Finish; buffer.go: sendDone. */
inline sDone(e) {
	assert(stage != done && (e || !live));
	stage = done; failed = e;
	if
	:: state == givenUp -> turn++
	:: else -> state = held
	fi;
	leavePool()
}

inline endPool() { atomic { poolDead = true; leavePool() } }

inline failSends() {
	atomic {
		if
		:: stage == idle || stage == done
		:: else -> sDone(true)
		fi
	}
}

/* lockedGate.fail. Its caller has the lock of the gate, which Alloc and Release do without. */
inline sFail() {
	if
	:: sEnd
	:: else ->
		atomic { sEnd = true; sDead = true };
#ifndef SENDS_FIRST
		endPool();
		failSends()
#else
		failSends();
		endPool()
#endif
	fi
}

inline sDrain() {
	if
	:: stage == queued && room(toR) && !lost -> toR!loan; stage = announced
	:: else
	fi;
	if
	:: owesAckS && room(toR) && !lost -> toR!byeAck; owesAckS = false
	:: else
	fi;
	if
	:: owesByeS && room(toR) && !lost -> toR!bye; owesByeS = false
	:: else
	fi
}

/* Buffer.Release of the handle of that turn: ok says whether it was live. */
inline giveUp(h, ok) {
	atomic {
#ifndef NO_TURN
		ok = turn == h && state != givenUp;
#else
		ok = turn % 2 == 1 && state != givenUp;
#endif
		if
		:: ok ->
			assert(!gone);
			if
#ifndef PUT_WHILE_OUT
			:: state == out -> state = givenUp
#endif
			:: else -> turn++
			fi;
			leavePool()
		:: else
		fi
	}
}

/* The program writes into its block, sends it, gives it back; and takes it once more. */
proctype sender() {
	bool ok;
	content = 1;
	atomic {        /* Post */
		!sLock ->
		state = out;
		if
		:: sDead -> sDone(true)
		:: else -> stage = queued; sDrain()
		fi
	};
	if
	:: giveUp(1, ok); assert(ok)    /* while it is under way, or just over */
	:: atomic { stage == done -> assert(!gone && (failed || !live)); content = 0 };
		giveUp(1, ok); assert(ok)
	fi;
	if      /* Alloc */
	:: atomic { turn == 2 && !poolDead -> turn++; state = held; assert(!gone && !live); content = 2 };
		giveUp(1, ok); assert(!ok);     /* a handle that is stale */
		assert(turn == 3 && !gone && content == 2);
		giveUp(3, ok); assert(ok)
	:: poolDead
	fi;
	stage == done
}

/* Its poller. */
proctype senderGate() {
end:	do
	:: atomic { !sLock && toS?[give] -> toS?give;
			if
			:: stage == announced && !sEnd -> sDone(false)
			:: else ->
#ifndef STRICT_RETURN
				assert(byeSentS || sEnd)        /* its send was given up a moment ago */
#else
				assert(sEnd)
#endif
			fi }
	:: atomic { !sLock && toS?[rtr] -> toS?rtr;
			if
			:: stage == announced && !sEnd -> stage = moving
			:: else -> assert(byeSentS || sEnd)
			fi }
	:: atomic { !sLock && stage == moving && room(bytes) && !lost -> bytes!0; sDone(false) }
	:: atomic { !sLock && toS?[byeAck] -> toS?byeAck; ackedS = true }
	:: toS?message
	:: atomic { !sLock && toS?[bye] -> toS?bye; sLock = true; owesAckS = true };
		sFail();
		atomic { sDrain(); sLock = false }
	:: atomic { !sLock && !lost && room(toR) && (owesByeS || owesAckS || stage == queued) -> sDrain() }
	:: atomic { !sLock && lost && !some(toS) && !sEnd -> sLock = true };
		sFail();
		sLock = false
	od
}

proctype senderCloses() {
	atomic { !sLock -> sDead = true };      /* beginClose; then it waits for its sends, or for as long as it may */
	atomic { !sLock -> sLock = true };      /* sayBye */
	if
	:: sEnd
	:: else ->
		atomic { byeSentS = true; owesByeS = true };
#ifndef SENDS_FIRST
		endPool();
#endif
		failSends();
		atomic { sDrain() }
	fi;
	sLock = false;
	if
	:: ackedS || sEnd
	:: true                                 /* it has waited for long enough */
	fi;
	atomic { !sLock -> sLock = true };      /* shut */
	sFail();
	atomic { sLock = false; lost = true }   /* the link is closed */
}

/* ---- The receiver's side ---- */

inline closeView() {
	if
#ifndef UNMAP_AT_END
	:: rEnd && outside == 0 -> mapped = false
#else
	:: rEnd -> mapped = false
#endif
	:: else
	fi
}

inline rDone() { assert(rstage != done); rstage = done }

inline rDrain() {
	if
	:: answers && room(toS) && !lost -> toS!rtr; answers = false
	:: else
	fi;
	if
	:: returns && room(toS) && !lost -> toS!give; returns = false; outside--
	:: else
	fi;
	if
	:: owesAckR && room(toS) && !lost -> toS!byeAck; owesAckR = false
	:: else
	fi;
	if
	:: owesByeR && room(toS) && !lost -> toS!bye; owesByeR = false
	:: else
	fi;
	closeView()
}

/* handleInbox: takeReleased and complete. */
inline handleInbox() {
	if
	:: released ->
		released = false;
		due--;
		if
#ifndef NO_PUT_AWAY
		:: rEnd || byeSentR -> outside--
#endif
		:: else -> returns = true
		fi
	:: else
	fi;
	if
	:: due != 0 && there -> there = false; due--
	:: else
	fi;
	closeView();
	rDrain()
}

inline failRecvs() {
	if
	:: rstage == queued || rstage == moving -> rDone()
	:: else
	fi;
	answers = false
}

inline rFail() {
	if
	:: rEnd
	:: else ->
		rEnd = true; rDead = true;
		failRecvs();
		unexpected = false;
		if
		:: returns -> returns = false; outside--
		:: else
		fi;
		closeView()
	fi
}

/* The message has come, and its receive is posted: hand, or answer. */
inline deliver() {
	if
	:: takes && !rDead ->
		live = true; outside++;
#ifdef RETURN_EARLY
		returns = true;
#endif
		rDone()
	:: !takes && !rDead -> rstage = moving; answers = true
	:: rDead -> rDone()
	fi;
	rDrain()
}

#ifndef SPIN_ON_DEBT
#define left (due > 0)
#else
#define left (due != 0)
#endif

/* lockedGate.unlock: the lock is let go, and what others have left for its holder is seen to. */
inline letGo() {
	rLock = false;
#ifndef NO_LOOK
	do
	:: atomic { left && !rLock -> rLock = true };
		atomic { handleInbox() };
		rLock = false
	:: !left || rLock -> break
	od
#endif
}

/* What was left for the holder of the lock is noted: if there is none the caller is. */
inline notice() {
	due++;
	if
	:: atomic { !rLock -> rLock = true };
		atomic { handleInbox() };
		letGo()
	:: rLock
	fi
}

/* loan.go: Release; inbox.go: leaveReleased. */
inline leaveReleased() {
	if
#ifndef NO_LEASE_TURN
	:: atomic { live -> live = false }; leave()
	:: !live
#else
	:: live = false; leave()
#endif
	fi
}

inline leave() {
#ifndef RETURN_EARLY
	released = true;
	notice()
#else
	skip
#endif
}

/* It posts a receive, reads what it gets, and gives it back. */
proctype reader() {
	if
	:: takes = true
	:: true
	fi;
	atomic { !rLock -> rLock = true };
	atomic {
		handleInbox();
		if
		:: unexpected -> unexpected = false; deliver()
		:: !unexpected && rDead -> rDone()
		:: else -> rstage = queued
		fi
	};
	letGo();
	rstage == done;
	if
	:: live ->
		atomic {
			assert(mapped && (content == 1 || content == 0 && failed));
			if
			:: calm -> run other()
			:: else
			fi
		};
		leaveReleased()
	:: else
	fi
}

/* Another thread gives the same loan back. */
proctype other() { leaveReleased() }

/* transfer.go: copy. */
proctype carrier() {
	there = true;
	notice()
}

/* The poller: it is called when there are packets, or room for what waits. */
proctype readerGate() {
end:	do
	:: atomic { !rLock && some(toR) -> rLock = true };
		atomic {
			handleInbox();
			if
			:: toR?loan ->
				if
				:: rEnd
				:: !rEnd && rstage == queued -> mapped = true; deliver()
				:: else -> mapped = true; unexpected = true
				fi
			:: toR?bye -> byeSeen = true
			:: toR?byeAck -> ackedR = true
			fi
		};
		letGo()
	:: atomic { !rLock && some(bytes) -> rLock = true };
		atomic {
			bytes?_;
			if
			:: rstage == moving -> rDone()
			:: else -> assert(rDead)
			fi
		};
		letGo()
	:: atomic { byeSeen && !rEnd && !some(bytes) && !rLock -> rLock = true };
		atomic { owesAckR = true; rFail(); rDrain() };
		letGo()
#ifndef NO_HOLD
	:: atomic { !rLock && room(toS) && !lost && (owesByeR || owesAckR || answers || returns) -> rLock = true };
		atomic { rDrain() };
		letGo()
#endif
	:: atomic { lost && !some(toR) && !rEnd && !rLock -> rLock = true };
		atomic { rFail() };
		letGo()
	od
}

proctype readerCloses() {
	atomic { !rLock -> rLock = true };      /* beginClose */
	atomic { handleInbox(); rDead = true; failRecvs() };
	letGo();
	atomic { !rLock -> rLock = true };      /* sayBye */
	atomic {
		if
		:: rEnd
		:: else -> byeSentR = true; owesByeR = true; rDrain()
		fi
	};
	letGo();
	if
	:: ackedR || rEnd
	:: true
	fi;
	atomic { !rLock -> rLock = true };      /* shut */
	atomic { rFail(); lost = true };
	letGo()
}

proctype loss() { lost = true }

init {
	atomic {
		run sender(); run senderGate(); run reader(); run readerGate();
		if
		:: run senderCloses()
		:: run readerCloses()
		:: run loss()
		:: calm = true; toS!message; run carrier()        /* there is no room at first */
		fi
	};
	timeout;
	assert(stage == done && rstage == done && turn % 2 == 0 && !live && !released && !returns && !there && due == 0 && outside == 0);
	assert(calm && !failed && mapped || !calm && sEnd && rEnd && gone && !mapped)
}
