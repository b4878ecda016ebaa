package nmad

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/pioman"
)

// How a job whose processes all wait for each other is found (Config.Stall). Each process looks at itself some times in
// that span. It stalls if for the whole span a thread has waited for a message, none has begun or ended, and it has hardly
// computed. It tells the collector, which is the lowest rank that lives, when that begins, with what its threads wait for,
// and when it ends:
//
//	moves ── nothing for Stall ──▶ stalls: told "stalls", text ── something ──▶ moves: told "moves"
//
// The collector reports once it has heard from all that live, the last time half a span ago, and stalls itself. A message
// that was under way would have ended a wait by then. What it hears it takes by probing, so that no receive of its own
// counts as pending.

const (
	stallLooks  = 4       // in a span
	stallIdle   = 0.1     // of a processor: more is computing
	stallText   = 4 << 10 // bytes of text that a process tells
	stallReport = 64      // processes that a report names
)

const (
	stallMoves  byte = iota // first byte of a message
	stallStalls             // a text follows
)

// stall watches one session.
type stall struct {
	s       *Session
	context *Context
	span    time.Duration
	output  io.Writer

	moved    uint64        // messages and bytes, when something moved last
	cpu      time.Duration // and the processor time
	since    time.Time     // when that was
	toldRank int           // the rank that was told that this process stalls; -1: none

	waitTexts map[int]string // collector: what those that stall wait for
	lastNews  time.Time      // when one told something
	reported  bool
}

// watchStall begins to look for a stall, until the session is closed.
func (s *Session) watchStall() error {
	span := s.cfg.Stall
	if span == 0 {
		return nil
	}
	all := make([]int, s.cfg.Size)
	for i := range all {
		all[i] = i
	}
	in, err := s.job.OpenContext(contexts.Stall, all...)
	if err != nil {
		return fmt.Errorf("%s: %w", EnvStall, err)
	}
	x := &stall{s: s, context: in, span: span, output: os.Stderr, since: time.Now(), lastNews: time.Now(), toldRank: -1, waitTexts: map[int]string{}}
	s.background.Go(func(ctx context.Context) {
		tick := time.NewTicker(span / stallLooks)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				x.look(ctx)
			}
		}
	})
	return nil
}

// look looks once, and tells what is to be told.
func (sl *stall) look(ctx context.Context) {
	spoke := sl.hear()
	moved, cpu, now := sl.total(), processTime(), time.Now()
	busy := (cpu - sl.cpu).Seconds() > stallIdle*sl.span.Seconds()
	if moved != sl.moved && !spoke || busy {
		sl.since, sl.cpu = now, cpu
	}
	sl.moved = moved
	stalls := now.Sub(sl.since) >= sl.span && sl.waits()
	to := sl.collector()
	switch own := sl.s.cfg.Rank; {
	case to != own && stalls && sl.toldRank != to:
		sl.send(ctx, to, append([]byte{stallStalls}, sl.text()...))
		sl.toldRank = to
	case to != own && !stalls && sl.toldRank >= 0:
		sl.send(ctx, to, []byte{stallMoves})
		sl.toldRank = -1
	case to != own:
		return
	case !stalls:
		sl.reported = false
		return
	case sl.reported || now.Sub(sl.lastNews) < sl.span/2 || !sl.allHeard():
		return
	default:
		sl.report()
		sl.reported = true
	}
}

// send sends a message to the collector, and does not count it as one of the program.
func (sl *stall) send(ctx context.Context, to int, text []byte) {
	ctx, stop := context.WithTimeout(ctx, sl.span)
	defer stop()
	_ = sl.s.job.Start(to, &Op{Match: Match{Context: sl.context, Mask: exact}, Buf: text}).WaitContext(ctx) // a collector that is lost has another one follow it
	sl.moved = sl.total()
}

// hear takes what others have told, and says whether there was something.
func (sl *stall) hear() (some bool) {
	any := Match{Context: sl.context}
	for {
		m := sl.s.job.Claim(any)
		if m == nil {
			return some
		}
		some = true
		buf, from := make([]byte, min(m.Size, stallText+1)), m.Source
		if _, err := m.Recv(buf); err != nil {
			continue
		}
		sl.lastNews, sl.reported = time.Now(), false
		if delete(sl.waitTexts, from); len(buf) > 0 && buf[0] == stallStalls {
			sl.waitTexts[from] = printable(string(buf[1:]))
		}
	}
}

// printable is a text of another process without what could confuse a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// total is what grows whenever a message begins, or ends.
func (sl *stall) total() uint64 {
	n := sl.s.Stats()
	return n.Sends + n.Recvs + n.BytesSent + n.BytesReceived
}

// waits says that a thread has waited for a message all the time.
func (sl *stall) waits() bool {
	return slices.ContainsFunc(pioman.Waiters(), func(w pioman.Waiter) bool { return w.Kind != nil && w.Time >= sl.span/2 })
}

// text is what this process waits for.
func (sl *stall) text() string {
	var b strings.Builder
	_ = WriteWaits(&b) // into a text
	text := b.String()
	if len(text) > stallText {
		text = text[:strings.LastIndexByte(text[:stallText-8], '\n')+1] + "  ...\n"
	}
	return text
}

// collector is the lowest rank that lives.
func (sl *stall) collector() int {
	for rank := range sl.s.cfg.Size {
		if sl.lives(rank) {
			return rank
		}
	}
	return sl.s.cfg.Rank
}

func (sl *stall) lives(rank int) bool {
	return rank == sl.s.cfg.Rank || sl.s.Gate(rank).Err() == nil
}

// allHeard says that all others that live have told that they stall.
func (sl *stall) allHeard() bool {
	for rank := range sl.s.cfg.Size {
		if _, stalls := sl.waitTexts[rank]; !stalls && rank != sl.s.cfg.Rank && sl.lives(rank) {
			return false
		}
	}
	return true
}

// report says for what all processes wait.
func (sl *stall) report() {
	sl.waitTexts[sl.s.cfg.Rank] = sl.text()
	defer delete(sl.waitTexts, sl.s.cfg.Rank)
	var b strings.Builder
	fmt.Fprintf(&b, "pm2: for %v no process of this job has computed, nor has a message begun or ended: all wait, perhaps for ever\n", sl.span)
	n := 0
	for rank := range sl.s.cfg.Size {
		if text, ok := sl.waitTexts[rank]; ok && sl.lives(rank) {
			if n++; n <= stallReport {
				fmt.Fprintf(&b, "rank %d:\n%s", rank, cmp.Or(text, "  nothing is known\n"))
			}
		}
	}
	if n > stallReport {
		fmt.Fprintf(&b, "and %d more processes\n", n-stallReport)
	}
	_, _ = io.WriteString(sl.output, b.String()) // to standard error: there is no other place to complain
}

// processTime is the processor time of the process so far.
func processTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
