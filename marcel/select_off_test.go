package marcel_test

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// openCase is ready, as a pointer, a function, or a struct that is one nil pointer.
type (
	openCase struct{ _ *int }
	openFunc func()
)

func (openCase) Try() bool                 { return true }
func (openCase) Enlist(*sched.Waiter) bool { return false }
func (openCase) Withdraw(*sched.Waiter)    {}
func (openCase) Taken(*sched.Waiter) bool  { return true }
func (openCase) Poll() bool                { return true }
func (openFunc) Try() bool                 { return true }
func (openFunc) Enlist(*sched.Waiter) bool { return false }
func (openFunc) Withdraw(*sched.Waiter)    {}
func (openFunc) Taken(*sched.Waiter) bool  { return true }

// A case that holds nil is as a nil channel in a select statement: it is never ready, and does no harm beside others.
func TestSelectWithCasesThatAreOff(t *testing.T) {
	var (
		out    *marcel.Sender[int]
		in     *marcel.Receiver[int]
		from   *marcel.ChanReceiver[int]
		ticker *marcel.TickerCase
		own    *openCase
		f      openFunc
	)
	never := []marcel.Case{nil, out, in, from, ticker, own, f}
	onThreadAndOff(t, func(t *testing.T) {
		for range 100 { // the look begins anywhere
			if i := marcel.TrySelect(never...); i != -1 {
				t.Fatalf("took case %d, which is nil", i)
			}
			if i := marcel.TrySelect(append(never, openCase{})...); i != len(never) {
				t.Fatalf("took case %d of a struct with a nil pointer", i)
			}
		}
		if i := marcel.SelectTimeout(time.Millisecond, never...); i != -1 {
			t.Errorf("took case %d, which is nil", i)
		}
		if i, err := marcel.SelectContext(t.Context(), append(never, marcel.After(time.Millisecond))...); i != len(never) || err != nil {
			t.Errorf("took case %d, %v", i, err)
		}
		var box marcel.Mailbox[int]
		var m marcel.Mutex
		m.Lock()
		for i := range 3 { // out comes and goes
			sender := out
			if i == 1 {
				sender = box.Sender(7)
				go func() { _, _ = box.Recv() }()
			}
			if got := marcel.SelectTimeout(10*time.Second, sender, marcel.After(time.Millisecond*time.Duration(1+i%2*5000)), marcel.NewCond(&m).Case(), own); got != 1-i%2 {
				t.Errorf("round %d: took case %d", i, got)
			}
		}
		m.Unlock()
	})
}
