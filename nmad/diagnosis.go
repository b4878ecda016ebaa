package nmad

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"
	"golang.org/x/sys/unix"
)

// This file tells people what threads wait for (WriteWaits, which also runs at SIGQUIT, and in stall.go when a job has
// come to a stop), and what gates do (Session.String).

// sessionList lists the open sessions of this process. A pioman.Reason has only numbers; by this list WriteWaits finds
// the session and its contexts.
type sessionList struct {
	mu   sync.Mutex // guards last, and serializes changes of open
	open shelf.Snapshot[*Session]
	last uint32 // serial of the last session
}

// sessions has the open sessions of this process.
var sessions sessionList

// add adds a session, and gives it its serial.
func (list *sessionList) add(s *Session) {
	list.mu.Lock()
	defer list.mu.Unlock()
	list.last++
	s.serial = list.last & sessionMask
	list.open.Add(s)
}

func (list *sessionList) remove(s *Session) {
	list.mu.Lock()
	defer list.mu.Unlock()
	list.open.Delete(func(x *Session) bool { return x == s })
}

// waitsForMessage is the kind of the reasons of requests. The words of such a reason:
//
//	0   bits 0..15 context, 16..31 domain, 32..55 serial of the session, 56..63 waitKind
//	1   rank
//	2   tag
//	3   of a send its size in bytes, else the mask
var waitsForMessage = pioman.NewReasonKind(messageText)

const sessionMask = 1<<24 - 1

// waitKind is what a request is for, in a reason.
type waitKind uint64

const (
	waitSend waitKind = iota
	waitReceive
	waitReceiveAny
	waitProbe
	waitProbeAny
	waitLinks
)

// reason describes what a waiter for r waits for. It reads only fields that the thread that has started r has set, and
// that do not change while r is under way.
func (r *Request) reason() pioman.Reason {
	g, c, x := r.gate, &r.core, r.extras()
	do, tag, last := waitReceive, x.pattern.Tag, x.pattern.Mask
	switch {
	case !c.UsesExtras:
		if tag, last = c.Entry.Tag, exact; c.Kind == flow.RequestSend {
			do, last = waitSend, uint64(c.Data.Size)
		}
	case x.forLinks:
		do = waitLinks
	case x.Wild.Probe:
		do = waitProbe
	case x.chooser == nil && c.Kind == flow.RequestSend:
		do, tag, last = waitSend, c.Entry.Tag, uint64(c.Data.Size)
	}
	if x.domain != nil {
		do++ // from any source
	}
	session, domain := uint64(0), uint64(0)
	if d := g.domain; d != nil {
		session, domain = uint64(d.session.serial), uint64(d.number)
	}
	return pioman.Reason{Kind: waitsForMessage, Words: [4]uint64{
		uint64(do)<<56 | session<<32 | domain<<16 | uint64(c.Context), uint64(g.rank), tag, last,
	}}
}

// messageText returns the text of a reason of waitsForMessage.
func messageText(words [4]uint64) string {
	of, rank, tag, last := words[0], words[1], words[2], words[3]
	text, mask := "", exact
	switch waitKind(of >> 56) {
	case waitSend:
		text = fmt.Sprintf("send of %d bytes to rank %d", last, rank)
	case waitReceive:
		text, mask = fmt.Sprintf("receive from rank %d", rank), last
	case waitReceiveAny:
		text, mask = "receive from any rank", last
	case waitProbe:
		text, mask = fmt.Sprintf("probe for a message from rank %d", rank), last
	case waitProbeAny:
		text, mask = "probe for a message from any rank", last
	default:
		return fmt.Sprintf("link to rank %d", rank)
	}
	domain := int(of >> 16 & 0xffff)
	if domain != 0 {
		text += fmt.Sprintf(", domain %d", domain)
	}
	var in *Session
	for _, s := range sessions.open.All() {
		if uint64(s.serial) == of>>32&sessionMask {
			in = s
		}
	}
	return text + ", " + in.tagText(domain, uint16(of), tag, mask)
}

// tagText describes a tag of a context, as Context.Describe says if the program has called it.
func (s *Session) tagText(domain int, context uint16, tag, mask uint64) string {
	text := ""
	if context > flow.DefaultContext {
		for _, d := range s.Domains() {
			if d.number != domain {
				continue
			}
			if c := d.context(context); c != nil {
				if describe := c.describe.Load(); describe != nil {
					return (*describe)(tag, mask)
				}
			}
		}
		text = fmt.Sprintf(" of context %d", context)
	}
	switch {
	case mask == 0:
		return "any tag" + text
	case mask != exact:
		return fmt.Sprintf("tag %#x under the mask %#x", tag, mask) + text
	case tag >= 1<<32:
		return fmt.Sprintf("tag %#x", tag) + text
	}
	return fmt.Sprintf("tag %d", tag) + text
}

// WriteWaits writes, for people, what the threads of this process do, and what threads and goroutines wait for, with
// the rank and tag of a message. Then it lists, for each session, the messages that have come and have no receive; it
// leaves out gates whose lock it does not get within a millisecond. It does not stop the threads. The error is that of
// w.
func WriteWaits(w io.Writer) error {
	var text strings.Builder
	writeThreads(&text)
	for _, s := range sessions.open.All() {
		s.writeKept(&text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// writeThreads writes a line for each thread, and for each goroutine that waits.
func writeThreads(w io.Writer) {
	waiters := pioman.Waiters()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if marcel.Running() {
		for _, t := range marcel.Threads() {
			id := t.Thread.ID()
			what, waits := t.State.String(), 0
			for _, x := range waiters {
				if x.Thread == id {
					what, waits = waitText(x), waits+1
					writeThread(table, fmt.Sprintf("thread %d", id), t.Name, what)
				}
			}
			if waits > 0 {
				continue
			}
			if t.State == marcel.StateBlocked {
				what += " in " + t.In.String()
			}
			writeThread(table, fmt.Sprintf("thread %d", id), t.Name, what)
		}
	}
	for _, x := range waiters {
		if x.Thread == 0 {
			writeThread(table, "goroutine", "", waitText(x))
		}
	}
	table.Flush() // into a strings.Builder: it cannot fail
}

func writeThread(w io.Writer, which, name, what string) {
	if name != "" {
		which += fmt.Sprintf(" %q", name)
	}
	fmt.Fprintf(w, "  %s\t%s\n", which, what)
}

func waitText(x pioman.Waiter) string {
	text := x.Text
	if text == "" {
		text = "a completion"
	}
	return fmt.Sprintf("waits %v: %s", x.Time.Round(time.Millisecond), text)
}

// maxKept is the largest number of messages that writeKept lists.
const maxKept = 16

// unmatched describes a message that has come and has no receive.
type unmatched struct {
	context   uint16
	tag, size uint64
}

// writeKept lists the messages that have come and have no receive.
func (s *Session) writeKept(w io.Writer) {
	n := 0
	for _, d := range s.Domains() {
		if d.access.accessError() != nil {
			continue
		}
		for g := range d.all {
			h := g.lockWithin1ms()
			if h == nil {
				continue
			}
			var some []unmatched
			for context, m := range h.flow.AllUnexpected {
				if n++; n <= maxKept {
					some = append(some, unmatched{context, m.Tag, m.Bytes()})
				}
			}
			h.unlock()
			for _, m := range some {
				fmt.Fprintf(w, "  came from rank %d%s, and no receive is for it: %s, %d bytes\n",
					g.rank, d.name(), s.tagText(d.number, m.context, m.tag, exact), m.size)
			}
		}
	}
	if n > maxKept {
		fmt.Fprintf(w, "  and %d more messages\n", n-maxKept)
	}
}

// lockWithin1ms takes the lock of the gate, or returns nil if the lock is held for more than a millisecond.
func (g *Gate) lockWithin1ms() (h *lockedGate) {
	retryUntil(time.Millisecond, func() bool {
		h = g.tryLock()
		return h != nil
	})
	return h
}

// title identifies this process, for people.
func title() string {
	text := fmt.Sprintf("pid %d", os.Getpid())
	for _, s := range sessions.open.All() {
		text = fmt.Sprintf("rank %d of %d, ", s.cfg.Rank, s.cfg.Size) + text
	}
	return text
}

// dumpTime is how long a dump may take; then the process ends without the rest of it.
const dumpTime = 2 * time.Second

// dumpAtQuit makes SIGQUIT write what threads wait for, before the Go runtime writes the stacks of goroutines and ends
// the process, until the session is closed. It does nothing if the process ignores the signal.
func (s *Session) dumpAtQuit() {
	if signal.Ignored(unix.SIGQUIT) {
		return
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, unix.SIGQUIT)
	s.background.Go(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			signal.Stop(quit)
			return
		case <-quit:
		}
		signal.Stop(quit) // a second one ends the process at once
		written := make(chan struct{})
		go func() {
			defer close(written)
			fmt.Fprintf(os.Stderr, "pm2: SIGQUIT: %s: threads, and goroutines that wait:\n", title())
			_ = WriteWaits(os.Stderr)
		}()
		select {
		case <-written:
		case <-time.After(dumpTime):
		}
		_ = unix.Kill(os.Getpid(), unix.SIGQUIT) // now the runtime handles it; only a sandbox could forbid it
	})
}

// String describes, for people, the gates that have links, of all domains, to find out why a request does not end: what
// is pending, what waits for room, credit or the other side, whether the engine sleeps on the links, and what the links
// say about themselves. It does not wait: of a gate whose lock is held it says just that. The format may change.
func (s *Session) String() string {
	if !s.valid() {
		return "nmad: no session"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "nmad: rank %d of %d", s.cfg.Rank, s.cfg.Size)
	if s.cfg.oversubscribed.Load() {
		b.WriteString(", whose processes share CPUs")
	}
	for _, d := range s.domains.open.All() {
		if d.number > 0 {
			fmt.Fprintf(&b, "\n%v", d)
		}
		for g := range d.all {
			if h := g.tryLock(); h != nil {
				h.describe(&b)
				h.unlockOnly()
			} else {
				fmt.Fprintf(&b, "\ngate to rank %d%s: its lock is held", g.rank, g.between())
			}
		}
	}
	return b.String()
}

// between names the two domains of the gate, unless both are domain 0.
func (g *Gate) between() string {
	here, there := g.domain.number, g.peerDomain
	if g.rank == g.ownRank {
		there = here
	}
	switch {
	case here == 0 && there == 0:
		return ""
	case here == there:
		return fmt.Sprintf(", domain %d", here)
	default:
		return fmt.Sprintf(", domain %d to %d", here, there)
	}
}

// describe is String for one gate.
func (h *lockedGate) describe(b *strings.Builder) {
	f := &h.flow
	requests, _ := f.Pending()
	if !h.linked() && requests == 0 {
		return
	}
	fmt.Fprintf(b, "\ngate to rank %d%s: %d pending, moving %d in and %d out; inbox: %d due, more %v", h.gate.rank, h.gate.between(),
		requests, f.Moving(flow.Pull), f.Moving(flow.Push), h.gate.inbox.due.Load(), h.gate.inbox.left())
	if h.endErr != nil {
		fmt.Fprintf(b, "; ended: %v", h.endErr)
	}
	fmt.Fprintf(b, "\n\tout: something %v, not tried %v, waits for room %v; the engine counts requests %v, bytes %v",
		f.Outgoing(), f.Unsent(), f.WantsRoom(), h.countedRequests, h.countedUnsent)
	fmt.Fprintf(b, "\n\t%+v", f.Ledger())
	for i := range h.gate.rails {
		l := &h.gate.rails[i]
		fmt.Fprintf(b, "\n\trail %s: a sleeper sleeps %v, for room %v, in vain %v; transfers idle %v",
			l.name, l.armed, l.armedRoom, l.armedInVain, l.inactive())
		if link, ok := l.link.(fmt.Stringer); ok && l.inactive() { // else a copier is inside
			fmt.Fprintf(b, "\n\t%v", link)
		}
	}
}
