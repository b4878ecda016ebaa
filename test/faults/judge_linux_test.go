package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/launch"
)

// verdict is what is said of a round.
type verdict struct {
	bad     []string
	void    string                   // why it says nothing, although something was wrong; empty: it does
	last    time.Duration            // from the fault, or the start of the request if that came later, to the last error of a survivor; 0: there was none
	longest map[string]time.Duration // the same by kind of request
	close   time.Duration            // longest Close of a survivor
	moved   int
	loaned  int
	actions map[string]int
	follow  []string        // collective operations that have failed since they had at another rank, where none may
	lost    bool            // a survivor has lost the victim
	aborted bool            // the job could not start
	lates   []time.Duration // by rank: what a sleeper came late at most
}

// judge holds a round to what package faults promises.
func (r *round) judge() (v verdict) {
	p := r.plan
	v.longest, v.actions = map[string]time.Duration{}, map[string]int{}
	bad := func(format string, args ...any) { v.bad = append(v.bad, fmt.Sprintf(format, args...)) }
	v.bad = append(v.bad, r.bad...)
	for _, l := range r.left {
		bad("left behind: %s", l)
	}
	late, whose := time.Duration(0), 0
	notOpen := map[int]bool{}
	for rank, x := range r.ranks {
		if x.account == nil {
			continue
		}
		v.lates = append(v.lates, x.account.Late.Round(time.Millisecond))
		notOpen[rank] = x.account.Open != ""
		by := x.account.Late
		if rank == p.Victim && (p.Kind == pause || p.Kind == stop) {
			by -= p.For // so long it was not to run
		}
		if by > late {
			late, whose = by, rank
		}
	}
	for rank, x := range r.ranks {
		a := x.account
		if a == nil {
			if rank != p.Victim {
				bad("rank %d has given no account", rank)
			}
			continue
		}
		v.moved += a.Moved
		v.loaned += a.Loaned
		for what, n := range a.Actions {
			v.actions[what] += n
		}
		for _, text := range a.Bad {
			bad("rank %d: %s", rank, text)
		}
		if rank == p.Victim && !p.Kind.harmless() {
			r.judgeVictim(a, bad)
			continue
		}
		if a.Open != "" {
			r.judgeOpen(a, bad)
			v.aborted = true
			continue
		}
		v.close = max(v.close, a.Closed)
		if a.Closed > stretched(p.close()) {
			bad("rank %d: Close took %v (starved?), the bound is %v", rank, a.Closed, p.close())
		}
		for _, f := range a.Failures {
			r.judgeFailure(rank, f, notOpen, &v, bad)
		}
	}
	r.judgeExit(bad)
	cause := slices.ContainsFunc(v.bad, func(text string) bool { return strings.Contains(text, "nothing may be lost (starved?)") })
	for _, text := range v.follow {
		if cause {
			bad("for the loss at another rank (starved?): %s", text)
		} else {
			bad("fails since it has elsewhere, where no rank has lost another: %s", text)
		}
	}
	if len(v.bad) > 0 && !r.hung && late > p.Heartbeat/2 {
		v.void = fmt.Sprintf("rank %d was woken %v late, with a heartbeat of %v", whose, late.Round(time.Millisecond), p.Heartbeat)
	} else if len(v.bad) > 0 && !r.hung {
		v.void = r.starved
	}
	starved := func(text string) bool { return strings.Contains(text, "starved?") }
	if slices.ContainsFunc(v.bad, func(text string) bool { return !starved(text) }) {
		v.void = "" // that has nothing to do with it
	}
	slices.SortStableFunc(v.bad, func(a, b string) int { // that first
		switch x, y := starved(a), starved(b); {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	})
	return v
}

// judgeFailure looks at an error of a survivor.
func (r *round) judgeFailure(rank int, f failure, notOpen map[int]bool, v *verdict, bad func(string, ...any)) {
	p := r.plan
	text := func() string {
		return fmt.Sprintf("rank %d, %s with %d, %v after the fault: %s", rank, f.What, f.Peer, time.Duration(f.End-r.began.UnixNano()).Round(time.Millisecond), f.Text)
	}
	switch {
	case notOpen[f.Named] && f.Lost:
		return
	case f.Elsewhere && p.Kind.harmless():
		v.follow = append(v.follow, text())
		return
	case !f.Lost || f.Named < 0:
		bad("not ErrPeerLost with a name: %s", text())
		return
	case p.Kind.harmless():
		bad("nothing may be lost (starved?): %s", text())
		return
	case f.Named != p.Victim:
		bad("the wrong one (starved?): %s", text())
		return
	}
	v.lost = true
	if strings.HasSuffix(f.What, "(hanging)") { // it was looked at late
		return
	}
	began := max(f.Began, r.began.UnixNano())
	if p.Kind == cut && !r.joined.IsZero() {
		began = max(f.Began, r.joined.UnixNano())
	} else if f.End < r.began.UnixNano() && p.Kind != kill { // a process that is killed goes piece by piece
		bad("before the fault (starved?): %s", text())
		return
	}
	took := max(time.Duration(f.End-began), time.Nanosecond)
	v.last = max(v.last, took)
	class := f.What
	bounds := p.bounds()
	limit := bounds.recv
	switch {
	case strings.Contains(class, "probe"):
		limit = bounds.probe
	case strings.Contains(class, "send"), class == "lend":
		limit = bounds.send
	}
	v.longest[class] = max(v.longest[class], took)
	if took > stretched(limit) {
		bad("too late (starved?), after %v, the bound is %v: %s", took.Round(time.Millisecond), limit, text())
	}
}

// judgeOpen looks at an Open that has failed.
func (r *round) judgeOpen(a *account, bad func(string, ...any)) {
	if !r.early {
		bad("rank %d cannot open its session (starved?): %s", a.Rank, a.Open)
	}
	if a.Opened > stretched(r.plan.open()) {
		bad("rank %d: Open took %v (starved?), the bound is %v", a.Rank, a.Opened, r.plan.open())
	}
}

// judgeVictim looks at a victim that has lived on.
func (r *round) judgeVictim(a *account, bad func(string, ...any)) {
	p := r.plan
	if a.Closed > stretched(p.close()+p.after()) {
		bad("the victim: Close took %v (starved?), the bound is %v", a.Closed, p.close()+p.after())
	}
	from := r.ended
	if from.IsZero() {
		from = r.began
	}
	for _, f := range a.Failures {
		told := f.Named == a.Rank && strings.Contains(f.Text, "says so") // by one that has taken it for lost
		if !f.Lost || f.Named < 0 || f.Named == a.Rank && !told {
			bad("the victim: not ErrPeerLost with a name: %s with %d: %s", f.What, f.Peer, f.Text)
			continue
		}
		took := time.Duration(f.End - max(f.Began, from.UnixNano()))
		if (p.Kind == stop || p.Kind == outage) && took > stretched(p.after()) {
			bad("the victim: too late (starved?), %v after the end of the fault, the bound is %v: %s with %d: %s", took, p.after(), f.What, f.Peer, f.Text)
		}
	}
}

// judgeExit looks how the processes have ended.
func (r *round) judgeExit(bad func(string, ...any)) {
	p := r.plan
	if r.hung {
		return
	}
	exit := (*launch.ExitError)(nil)
	if !errors.As(r.exit, &exit) {
		if r.exit != nil {
			bad("the job ended with %v", r.exit)
		} else if p.Kind.deadly() && !r.early {
			bad("the job ended with nothing, though rank %d was killed", p.Victim)
		}
		return
	}
	killed := false
	if s, ok := exit.State.Sys().(syscall.WaitStatus); ok {
		killed = s.Signaled() && s.Signal() == syscall.SIGKILL
	}
	switch {
	case exit.Rank != p.Victim:
		bad("rank %d ended with %v", exit.Rank, exit)
	case p.Kind == memory || p.Kind == cgroup:
	case p.Kind.deadly() && killed:
	default:
		bad("the victim ended with %v", exit)
	}
}
