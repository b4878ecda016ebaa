package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// failure is a request that has ended with an error.
type failure struct {
	What       string // recv, send, probe, ...
	Peer       int    // with which it had to do; -1: any
	Began, End int64  // in ns since 1970
	Named      int    // the rank in its PeerError; -1: none
	Lost       bool   // it is ErrPeerLost
	Elsewhere  bool   // it says that a collective operation has failed at another rank
	Text       string
}

// account is what a rank says of its part when it is through.
type account struct {
	Rank     int
	Open     string // why it could not open its session; empty: it could
	Opened   time.Duration
	Failures []failure
	Moved    int            // messages received and found right
	Loaned   int            // of them, where their sender had them
	Second   int            // of them, after the fault
	Actions  map[string]int // of themes, by what they are
	Closed   time.Duration  // what Close took
	Closing  string         // what it returned
	Bad      []string       // what must not be
	Late     time.Duration  // what a sleeper came late at most
	LateAt   int64
}

// line is what a rank writes on its standard output.
type line struct {
	What    string // joined, account
	Account *account
}

func say(l line) {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

// book collects what goes into an account. Safe for concurrent use.
type book struct {
	mu       sync.Mutex
	a        account
	gone     map[int]bool // peers whose gates have ended
	canaries []canary
}

// canary is a buffer into which nothing may be written any more.
type canary struct {
	buf  []byte
	what string
}

const canaryByte = 0xa5

// bad notes something that must not be.
func (b *book) bad(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.a.Bad) < 20 {
		b.a.Bad = append(b.a.Bad, fmt.Sprintf(format, args...))
	}
}

// moved notes a message that has come.
func (b *book) moved(second, loaned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.a.Moved++
	if second {
		b.a.Second++
	}
	if loaned {
		b.a.Loaned++
	}
}

// did notes that an action of a theme was right.
func (b *book) did(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.a.Actions == nil {
		b.a.Actions = map[string]int{}
	}
	b.a.Actions[what]++
}

// failed notes how a request ended, and reports whether that was an error.
func (b *book) failed(what string, peer int, began time.Time, err error) bool {
	if err == nil {
		return false
	}
	f := failure{What: what, Peer: peer, Began: began.UnixNano(), End: time.Now().UnixNano(), Named: -1, Lost: errors.Is(err, nmad.ErrPeerLost), Text: err.Error()}
	if lost := (*nmad.PeerError)(nil); errors.As(err, &lost) {
		f.Named = lost.Rank
	}
	f.Elsewhere = !f.Lost && (errors.Is(err, mpi.ErrElsewhere) || errors.Is(err, mpi.ErrRevoked))
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.a.Failures) < 2000 {
		b.a.Failures = append(b.a.Failures, f)
	}
	return true
}

// ended notes that the gate to a peer has.
func (b *book) ended(peer int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone[peer] = true
}

// isGone reports whether the gate to the peer has ended.
func (b *book) isGone(peer int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gone[peer]
}

// allGone reports whether the gates to all others have ended.
func (b *book) allGone(size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.gone) >= size-1
}

// guard watches over the buffer of a receive that has failed.
func (b *book) guard(buf []byte, what string) {
	for i := range buf {
		buf[i] = canaryByte
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.canaries = append(b.canaries, canary{buf, what})
}

// lookAtCanaries says what was written into.
func (b *book) lookAtCanaries() {
	for _, c := range b.canaries {
		if i := slices.IndexFunc(c.buf, func(x byte) bool { return x != canaryByte }); i >= 0 {
			b.bad("the buffer of a receive that had failed (%s) was written into, at byte %d of %d", c.what, i, len(c.buf))
		}
	}
}

// watchLateness notes how late this process is woken.
func (b *book) watchLateness() (over func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		const nap = 10 * time.Millisecond
		for ends := false; !ends; { // a nap that is late is noted, also if the round has ended meanwhile
			began := time.Now()
			select {
			case <-done:
				ends = true
			case <-time.After(nap):
			}
			if late := time.Since(began) - nap; late > b.a.Late { // only this goroutine touches these
				b.a.Late, b.a.LateAt = late, time.Now().UnixNano()
			}
		}
	}()
	return func() { close(done); <-gone }
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "faults:", err)
	os.Exit(1)
}
