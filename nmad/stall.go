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

// This file detects a job whose processes all wait for each other (Config.Stall). Each process checks itself several
// times in that time, the span. It stalls if during the whole span a thread has waited for a message, no message has
// begun or ended, and the process has hardly computed. When it begins to stall it tells the collector, which is the
// lowest living rank, with a text that says what its threads wait for; it also tells when it stalls no more:
//
//	moves ── nothing happens for a span ──▶ stalls (sends "stalls" and the text) ── something happens ──▶ moves (sends "moves")
//
// The collector reports when all living processes stall, itself included, and the last of these messages is half a span
// old: a message that was under way would have ended a wait by then. The collector claims the messages instead of
// posting receives, so that no receive of its own counts as pending.

const (
	stallLooks  = 4       // in a span
	stallIdle   = 0.1     // of a processor: more is computing
	stallText   = 4 << 10 // bytes of text that a process tells
	stallReport = 64      // processes that a report names
)

const (
	stallMoves  byte = iota // first byte of a message: the process stalls no more
	stallStalls             // first byte of a message: the process stalls; the text follows
)

// stall checks one session for a stall. One goroutine uses it.
type stall struct {
	session *Session
	context *Context
	span    time.Duration
	output  io.Writer

	moved    uint64        // total at the last look
	cpu      time.Duration // processor time when the process last moved
	since    time.Time     // when that was
	toldRank int           // the collector to which this process has told that it stalls; -1 if to none

	waitTexts map[int]string // at the collector: what the processes that stall wait for, by rank
	lastNews  time.Time      // at the collector: when the last message came
	reported  bool           // at the collector: the stall was reported
}

// watchStall starts to check for a stall, until the session is closed. It does nothing if Config.Stall is 0.
func (s *Session) watchStall() error {
	span := s.cfg.Stall
	if span == 0 {
		return nil
	}
	all := make([]int, s.cfg.Size)
	for i := range all {
		all[i] = i
	}
	msgContext, err := s.job.OpenContext(contexts.Stall, all...)
	if err != nil {
		return fmt.Errorf("%s: %w", EnvStall, err)
	}
	x := &stall{
		session: s, context: msgContext, span: span, output: os.Stderr, since: time.Now(), lastNews: time.Now(),
		toldRank: -1, waitTexts: map[int]string{},
	}
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

// look checks once, and sends or reports what has changed.
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
	switch own := sl.session.cfg.Rank; {
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

// send sends a message to the collector, and does not count it as a message of the program.
func (sl *stall) send(ctx context.Context, to int, text []byte) {
	ctx, stop := context.WithTimeout(ctx, sl.span)
	defer stop()
	r := sl.session.job.Start(to, &Operation{Match: Match{Context: sl.context, Mask: exact}, Buf: text})
	_ = r.WaitContext(ctx) // if the collector is lost, another process becomes it
	sl.moved = sl.total()
}

// hear receives the messages of other processes, and reports whether there were any.
func (sl *stall) hear() (some bool) {
	anyMessage := Match{Context: sl.context}
	for {
		m := sl.session.job.Claim(anyMessage)
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

// total returns a number that grows whenever a message begins or ends.
func (sl *stall) total() uint64 {
	n := sl.session.Stats()
	return n.Sends + n.Recvs + n.BytesSent + n.BytesReceived
}

// waits reports whether a thread has waited for a message for at least half a span.
func (sl *stall) waits() bool {
	return slices.ContainsFunc(pioman.Waiters(), func(w pioman.Waiter) bool { return w.Kind != nil && w.Time >= sl.span/2 })
}

// text says what the threads of this process wait for, in at most stallText bytes.
func (sl *stall) text() string {
	var b strings.Builder
	_ = WriteWaits(&b) // into a text
	text := b.String()
	if len(text) > stallText {
		text = text[:strings.LastIndexByte(text[:stallText-8], '\n')+1] + "  ...\n"
	}
	return text
}

// collector returns the lowest living rank.
func (sl *stall) collector() int {
	for rank := range sl.session.cfg.Size {
		if sl.lives(rank) {
			return rank
		}
	}
	return sl.session.cfg.Rank
}

// lives reports whether a rank is not lost.
func (sl *stall) lives(rank int) bool {
	return rank == sl.session.cfg.Rank || sl.session.Gate(rank).Err() == nil
}

// allHeard reports whether all other living processes have told that they stall.
func (sl *stall) allHeard() bool {
	for rank := range sl.session.cfg.Size {
		if _, stalls := sl.waitTexts[rank]; !stalls && rank != sl.session.cfg.Rank && sl.lives(rank) {
			return false
		}
	}
	return true
}

// report writes what all living processes wait for.
func (sl *stall) report() {
	sl.waitTexts[sl.session.cfg.Rank] = sl.text()
	defer delete(sl.waitTexts, sl.session.cfg.Rank)
	var b strings.Builder
	fmt.Fprintf(&b, "pm2: for %v no process of this job has computed, nor has a message begun or ended: all wait, perhaps for ever\n", sl.span)
	n := 0
	for rank := range sl.session.cfg.Size {
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

// processTime returns the processor time that the process has used so far.
func processTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
