/* The membership of a job: which process keeps the list, and what becomes of the others when it, or a leader, dies, is stopped, or cannot be reached
 * (README.md has the protocol). Ranks 1 and 2 are members of rank 0, the root; rank 3 is on the host of rank 2, its leader, and its member. The order of
 * succession is that of the ranks. Each step of a process is one atomic step: there is one lock.
 *
 *   process          a process of the job; fails: what the kernels, the network and the clocks do to it
 *   depart           roster: depart, the one way by which a process notes that others are gone
 *   clock            the patience of a root for those that do not come is longer than all else that goes on. At the end it judges
 *
 * Frames: each connection has what is on its way up and down; it is lost when the process that should read it goes on to another parent, and may be lost when its
 * sender dies.
 *
 * Properties, once all has come to rest, of the processes that run (verdicts in clock): each is root, or has a parent whose member it is, or knows that it is excluded; each that is not
 * excluded knows of all that have ended, do not run any more, or are excluded; two are of one group, with one root, if and only if neither is gone for the other: so a group has one root after
 * a cut has healed, and none that is gone comes back. If processes only die, no other is lost. If one only doubts its parent, it is not lost for that.
 *
 * Mutations, and what each one leads to:
 *   NO_GONE          a welcome does not name those that are gone: what the last parent did not send is never heard
 *   NO_REPORT        a leader does not tell its next parent what it knows of its host: likewise
 *   NO_SUBTREE       nor for which ranks it speaks: the root loses them though they run
 *   NO_UNSPEAK       a leader does not tell the root that one of its members has gone to look for another parent: if that one dies on its way, no process notices
 *   NO_MISSING       a new root does not look for those that do not come: likewise
 *   NO_QUIT          a process that doubts its parent closes the connection without QUIT: it is taken for dead
 *   NO_TAKEOVER      a root whose successor quits stays root: it loses it, as that does all others
 *   NO_WAIT          a searching process does not wait for one that searches, or has a parent, itself
 *   BACK             a process that is gone is welcomed
 *   NO_RELEASE       an excluded process does not give up its members
 *   HALF_IS_DEATH    the end of a connection on which a process that connects anew has said nothing yet is taken for its death: it may have given up this attempt only
 *
 * Bounds: FAULTS faults, of which one cut and one stop (with 3 in place of 2 there is no error in 2.7 million states, either). Left out: leaving (an end of which no death is made), the start, the probes by which
 * a root without a heartbeat finds out sooner, and hosts whose kernels are gone with them. */

#define FINITE
#define N 4
#define FAULTS 2
#define B(p) (1 << (p))
#define runs(p) (!dead[p] && !stopped[p])
#define open(p, q) (!(cut[p] & B(q)))
#define linked(m, p) (state[m] == ATTACHED && parent[m] == p)
#define host(p) ((p) == 2 -> B(3) : 0)        /* the ranks that p leads */

#define ATTACHED  0
#define SEARCHING 1
#define ROOT      2
#define EXCLUDED  3
#define NONE 0
#define LOST 1          /* DEAD, with the rank of its receiver */
#define QUIT 2

bit dead[N], stopped[N];
byte cut[N];            /* mask: to these nothing gets through */
byte state[N];
byte parent[N];         /* of one that is attached */
byte gone[N];           /* mask: for this process they are gone */
byte has[N];            /* mask: members, as their parent sees it */
byte half[N];           /* mask: members of it that have said nothing yet */
byte doubted[N];        /* mask: passed over by a search */
byte quits[N];          /* mask: members whose QUIT is on its way to this process */
byte speaks[N];         /* mask: for whom this member speaks, as its parent sees it */
byte down[N], last[N];  /* on the connection of this member: the deaths that it is yet to hear, then how its parent ends it */
byte up[N];             /* likewise to its parent */
byte faults;
bit halved, severe, doubts, deaths;     /* there was a stop or a cut; a doubt; a death */
byte doubter = N;

/* depart: p learns that those of mask are gone, from a member, from its parent (N), or by itself (p). */
inline depart(p, mask, from) {
	fresh = (mask) & ~gone[p] & ~B(p);
	gone[p] = gone[p] | fresh;
	for (m : 0 .. N-1) {
		if
		:: (has[p] & fresh & B(m)) && linked(m, p) -> has[p] = has[p] & ~B(m); last[m] = LOST; speaks[m] = 0
		:: (has[p] & fresh & B(m)) && !linked(m, p) -> has[p] = has[p] & ~B(m)
		:: (has[p] & ~fresh & B(m)) && linked(m, p) && m != from -> down[m] = down[m] | fresh
		:: else
		fi
	}
	if
	:: state[p] == ATTACHED && from < N -> up[p] = up[p] | (fresh & host(p))
	:: else
	fi;
	fresh = 0; m = 0
}

inline search(p) {
	state[p] = SEARCHING; up[p] = 0; down[p] = 0; last[p] = NONE
}

inline exclude(p) {
	state[p] = EXCLUDED; doubted[p] = 0; up[p] = 0; down[p] = 0; last[p] = NONE; quits[p] = 0;
#ifndef NO_RELEASE
	for (m : 0 .. N-1) {
		if
		:: (has[p] & B(m)) && linked(m, p) -> last[m] = QUIT; speaks[m] = 0
		:: else
		fi
	}
	m = 0;
	has[p] = 0
#endif
}

inline attach(p, q) {
	has[q] = has[q] | B(p); quits[q] = quits[q] & ~B(p); half[q] = half[q] & ~B(p);
	parent[p] = q; state[p] = ATTACHED; doubted[p] = 0; last[p] = NONE;
#ifndef NO_GONE
	down[p] = gone[q] & ~gone[p];
#else
	down[p] = 0;
#endif
#ifndef NO_REPORT
	up[p] = gone[p] & ~gone[q];
#else
	up[p] = 0;
#endif
#ifndef NO_SUBTREE
	speaks[p] = has[p] & host(p)
#else
	speaks[p] = 0
#endif
}

#define refuses(c) (dead[c] || state[c] == EXCLUDED)
#ifndef BACK
#define lostAt(p, c) (gone[c] & B(p))
#else
#define lostAt(p, c) 0
#endif

/* what rank q has not gone, has not doubted, and comes before p: is it p's turn to ask it? */
#define before(p) (B(p) - 1)
#define left(p) (before(p) & ~gone[p] & ~doubted[p])
#define asks(p, c) (state[p] == SEARCHING && c < p && (left(p) & B(c)) && !(left(p) & before(c)))
/* one that is doubted may answer after all */
#define asksAgain(p, c) (state[p] == SEARCHING && c < p && (doubted[p] & B(c)) && !(gone[p] & B(c)))

#define successor(q) (q != 0 && !(gone[q] & 1) -> 0 : (q != 1 && !(gone[q] & 2) -> 1 : (q != 2 && !(gone[q] & 4) -> 2 : (q != 3 && !(gone[q] & 8) -> 3 : N))))
#define spoken(q, r) ((has[q] & B(r)) || ((has[q] & 4) && (speaks[2] & B(r))))
#define isMissing(q, r) (runs(q) && state[q] == ROOT && q != r && !(gone[q] & B(r)) && !spoken(q, r))

inline member(me, other) { /* what me does as the parent of other */
	if
	/* the kernel says that it has ended */
	:: d_step { runs(me) && (has[me] & B(other)) && dead[other] && open(me, other) -> depart(me, B(other), other) }
	/* it has given up, and connects anew */
	:: d_step { runs(me) && (has[me] & half[me] & B(other)) && open(me, other) -> half[me] = half[me] & ~B(other);
#ifdef HALF_IS_DEATH
		depart(me, B(other), other)
#else
		has[me] = has[me] & ~B(other)
#endif
		}
	/* it is silent */
	:: d_step { runs(me) && (has[me] & B(other)) && (stopped[other] || !open(me, other)) -> depart(me, B(other), me) }
	/* it looks for another parent */
	:: d_step { runs(me) && (has[me] & quits[me] & B(other)) && open(me, other) ->
		has[me] = has[me] & ~B(other); quits[me] = quits[me] & ~B(other);
		if
#ifndef NO_TAKEOVER
		:: state[me] == ROOT && other == successor(me) -> exclude(me)
#endif
#ifndef NO_UNSPEAK
		:: state[me] == ATTACHED -> speaks[me] = speaks[me] & ~B(other)
#endif
		:: else
		fi }
	/* it brings news of its host */
	:: d_step { runs(me) && (has[me] & B(other)) && up[other] && open(me, other) && state[other] == ATTACHED && parent[other] == me ->
		news = up[other]; up[other] = 0; depart(me, news & ~B(me), other); speaks[other] = speaks[other] & ~news; news = 0 }
	fi
}

inline child(me, other) { /* what me does as a member of other */
	if
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && down[me] && open(me, other) ->
		news = down[me]; down[me] = 0; depart(me, news, N); news = 0 }
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && last[me] == LOST && !down[me] && open(me, other) -> exclude(me) }
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && last[me] == QUIT && !down[me] && open(me, other) -> search(me); doubted[me] = B(other) }
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && dead[other] && open(me, other) -> depart(me, B(other), N); search(me) }
	/* silence, or a doubt without reason */
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && (stopped[other] || !open(me, other)) -> doubt(me, other) }
	:: d_step { runs(me) && state[me] == ATTACHED && parent[me] == other && runs(other) && open(me, other) && (has[other] & B(me)) && faults < FAULTS && !doubts ->
		faults++; doubts = 1; doubter = me; doubt(me, other) }
	fi
}

inline doubt(p, q) {
#ifndef NO_QUIT
	quits[q] = quits[q] | (has[q] & B(p));
#else
	if
	:: has[q] & B(p) -> depart(q, B(p), p)
	:: else
	fi;
#endif
	search(p);
	doubted[p] = B(q)
}

inline ask(me, other) { /* a step of a search */
	if
	:: d_step { runs(me) && asks(me, other) && open(me, other) && refuses(other) -> depart(me, B(other), me) }
	:: d_step { runs(me) && asks(me, other) && !dead[other] && (stopped[other] || !open(me, other)) -> doubted[me] = doubted[me] | B(other) }
	:: d_step { runs(me) && asks(me, other) && dead[other] && !open(me, other) -> doubted[me] = doubted[me] | B(other) }
	:: d_step { runs(me) && (asks(me, other) || asksAgain(me, other)) && open(me, other) && runs(other) && state[other] != EXCLUDED && lostAt(me, other) -> exclude(me) }
	:: d_step { runs(me) && (asks(me, other) || asksAgain(me, other)) && open(me, other) && runs(other) && state[other] == ROOT && !lostAt(me, other) -> attach(me, other) }
	/* it has given up when the answer comes */
	:: d_step { runs(me) && asks(me, other) && open(me, other) && runs(other) && state[other] == ROOT && !lostAt(me, other) && !halved ->
		halved = 1; has[other] = has[other] | B(me); quits[other] = quits[other] & ~B(me); half[other] = half[other] | B(me) }
#ifdef NO_WAIT
	:: d_step { runs(me) && asks(me, other) && open(me, other) && runs(other) && (state[other] == SEARCHING || state[other] == ATTACHED) -> doubted[me] = doubted[me] | B(other) }
#endif
	fi
}

proctype process(byte me) {
	byte m, fresh, news;
end:
	do
	:: member(me, 0)
	:: member(me, 1)
	:: member(me, 2)
	:: member(me, 3)
	:: child(me, 0)
	:: child(me, 1)
	:: child(me, 2)
	:: ask(me, 0)
	:: ask(me, 1)
	:: ask(me, 2)
	:: d_step { runs(me) && state[me] == SEARCHING && !left(me) ->
		state[me] = ROOT;
		depart(me, doubted[me], me); /* for the time that it saves: as missing ranks they were lost later */
		doubted[me] = 0 }
	od
}

inline sever(p, mask) { cut[p] = cut[p] | (mask) }

proctype fails() {
	byte p;
	do
	:: faults == FAULTS -> break
	:: break
	:: d_step { faults < FAULTS -> faults++; p = 0 }
		do
		:: p < N - 1 -> p++
		:: break
		od;
		if
		:: d_step { !dead[p] -> dead[p] = 1; deaths = 1; stopped[p] = 0; doubted[p] = 0; state[p] = ATTACHED; parent[p] = 0; down[p] = 0; up[p] = 0; last[p] = 0; has[p] = 0; half[p] = 0; gone[p] = 0; quits[p] = 0 }
		:: atomic { !dead[p] && !severe -> severe = 1; stopped[p] = 1 };
			if
			:: true -> stopped[p] = 0
			:: true
			fi
		:: atomic { !severe && p == 0 -> severe = 1;
			if
			:: sever(0, 2); sever(1, 1)
			:: sever(0, 4); sever(2, 1)
			:: sever(1, 4); sever(2, 2)
			:: sever(0, 14); sever(1, 1); sever(2, 1); sever(3, 1)
			:: sever(2, 3); sever(3, 3); sever(0, 12); sever(1, 12)
			fi };
			if
			:: d_step { cut[0] = 0; cut[1] = 0; cut[2] = 0; cut[3] = 0 }
			:: true
			fi
		:: true
		fi
	od
}

#define rootOf(p) (state[p] == ROOT -> p : (state[parent[p]] == ROOT -> parent[p] : parent[parent[p]]))

proctype clock() {
	byte q, r, m, fresh;
again:
	timeout;
	d_step {
		q = 0; r = 0;
#ifndef NO_MISSING
		do
		:: q == N -> break
		:: else ->
			if
			:: r == N -> r = 0; q++
			:: else ->
				if
				:: isMissing(q, r) -> break
				:: else -> r++
				fi
			fi
		od
#else
		q = N
#endif
	}
	if
	:: q < N -> d_step { depart(q, B(r), q); q = 0; r = 0 }; goto again
	:: else
	fi;
	d_step {
	for (q : 0 .. N-1) {
		if
		:: runs(q) ->
			assert(state[q] != SEARCHING);
			if
			:: state[q] == ATTACHED -> assert(runs(parent[q]) && (has[parent[q]] & B(q)) && state[rootOf(q)] == ROOT)
			:: else
			fi;
			for (r : 0 .. N-1) {
				if
				:: state[q] == EXCLUDED || q == r
				:: else ->
					if
					:: !runs(r) || state[r] == EXCLUDED -> assert(gone[q] & B(r))
					:: else -> assert((rootOf(q) == rootOf(r)) == (!(gone[q] & B(r)) && !(gone[r] & B(q))))
					fi;
					assert(severe || doubts || dead[r] || !(gone[q] & B(r)));
					assert(severe || deaths || r != doubter || !(gone[q] & B(r)))
				fi
			}
			assert(severe || doubts || state[q] != EXCLUDED);
			assert(severe || deaths || q != doubter || state[q] != EXCLUDED)
		:: else
		fi
	}
	}
}

init {
	d_step {
		state[0] = ROOT;
		has[0] = B(1) | B(2); has[2] = B(3);
		parent[3] = 2; speaks[2] = B(3)
	}
	atomic { run process(0); run process(1); run process(2); run process(3); run fails(); run clock() }
}
