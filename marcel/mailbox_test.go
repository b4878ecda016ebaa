package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func TestMailboxBasics(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var zero marcel.Mailbox[string]
		if zero.Cap() != 0 || zero.Len() != 0 {
			t.Error("the zero value has room")
		}
		if err := zero.TrySend("x"); !errors.Is(err, marcel.ErrWouldBlock) {
			t.Errorf("sent without a receiver: %v", err)
		}
		if err := zero.SendTimeout("x", time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sent without a receiver: %v", err)
		}
		m := marcel.NewMailbox[int](3)
		for lap := range 3 { // round the ring
			for i := range 3 {
				must(t, m.Send(10*lap+i))
			}
			if err := m.SendTimeout(9, 0); !errors.Is(err, context.DeadlineExceeded) || m.Len() != 3 || m.Cap() != 3 {
				t.Errorf("a fourth one: %v; %d of %d", err, m.Len(), m.Cap())
			}
			for i := range 2 {
				if v, err := m.Recv(); v != 10*lap+i || err != nil {
					t.Errorf("received %d, %v", v, err)
				}
			}
			if v, err := m.RecvTimeout(-1); v != 10*lap+2 || err != nil {
				t.Errorf("received %d, %v", v, err)
			}
			if v, err := m.TryRecv(); v != 0 || !errors.Is(err, marcel.ErrWouldBlock) {
				t.Errorf("received %d, %v out of nothing", v, err)
			}
		}
		over, cancel := context.WithCancelCause(context.Background())
		cancel(errOops)
		if _, err := m.RecvContext(over); !errors.Is(err, errOops) {
			t.Errorf("received under a context that is over: %v", err)
		}
		if err := m.SendContext(over, 1); !errors.Is(err, errOops) || m.Len() != 0 {
			t.Errorf("sent under a context that is over: %v", err)
		}
		panics(t, "capacity -1", func() { marcel.NewMailbox[int](-1) })
		panics(t, "nil", func() { _ = (*marcel.Mailbox[int])(nil).Send(1) })
	})
}

func TestMailboxClose(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		m := marcel.NewMailbox[int](4)
		for i := range 3 {
			must(t, m.Send(i))
		}
		m.Close()
		m.Close()
		for name, err := range map[string]error{
			"Send": m.Send(9), "TrySend": m.TrySend(9), "SendTimeout": m.SendTimeout(9, time.Hour), "SendContext": m.SendContext(context.Background(), 9),
		} {
			if !errors.Is(err, marcel.ErrClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if got := slices.Collect(m.All()); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("drained %v", got)
		}
		_, err := m.Recv()
		_, err2 := m.TryRecv()
		_, err3 := m.RecvTimeout(time.Hour)
		for _, err := range []error{err, err2, err3} {
			if !errors.Is(err, marcel.ErrClosed) {
				t.Errorf("receive after Close: %v", err)
			}
		}
		tx, rx := m.Sender(1), m.Receiver()
		if marcel.Select(tx) != 0 || !errors.Is(tx.Err, marcel.ErrClosed) || marcel.Select(rx) != 0 || rx.OK {
			t.Errorf("the cases of a closed one: %v, %v", tx.Err, rx.OK)
		}
	})
}

// Close ends every wait: in Send, in Recv, in their bounded forms, and in Select.
func TestMailboxCloseEndsWaits(t *testing.T) {
	worlds(t, func(w *world) {
		full, empty := marcel.NewMailbox[int](1), marcel.NewMailbox[int](1)
		must(w, full.Send(1))
		never, cancel := context.WithCancel(context.Background())
		defer cancel()
		var waits, over sync.WaitGroup
		for _, wait := range []func() error{
			func() error { return full.Send(2) },
			func() error { return full.SendTimeout(2, time.Hour) },
			func() error { return full.SendContext(never, 2) },
			func() error { tx := full.Sender(2); marcel.Select(nil, tx); return tx.Err },
			func() error { _, err := empty.Recv(); return err },
			func() error { _, err := empty.RecvTimeout(time.Hour); return err },
			func() error { _, err := empty.RecvContext(never); return err },
			func() error {
				rx := empty.Receiver()
				if marcel.Select(rx); rx.OK {
					return nil
				}
				return marcel.ErrClosed
			},
		} {
			waits.Add(1)
			over.Add(1)
			w.Go(func() {
				defer over.Done()
				waits.Done()
				if err := wait(); !errors.Is(err, marcel.ErrClosed) {
					w.Error(err)
				}
			})
		}
		waits.Wait()
		time.Sleep(time.Millisecond) // most of them are parked by now
		full.Close()
		empty.Close()
		over.Wait()
		if v, err := full.Recv(); v != 1 || err != nil {
			w.Errorf("what was stored: %d, %v", v, err)
		}
	})
}

// Those that wait are served in order of arrival, on both sides, and a newcomer
// does not overtake them.
func TestMailboxIsFIFO(t *testing.T) {
	for _, capacity := range []int{0, 2} {
		run(t, undisturbed(), func(*sched.Scheduler) {
			const n = 7
			m := marcel.NewMailbox[int](capacity)
			var got []string
			var all []marcel.Thread
			for i := range n {
				all = append(all, marcel.Spawn(func() {
					switch i % 3 {
					case 0:
						must(t, m.Send(i))
					case 1:
						must(t, m.SendTimeout(i, time.Hour))
					case 2:
						marcel.Select(m.Sender(i))
					}
				}))
				marcel.Yield()
			}
			if m.TrySend(99) == nil {
				t.Error("a newcomer overtook those that wait")
			}
			for i := range n {
				if v, err := m.Recv(); v != i || err != nil {
					t.Errorf("capacity %d: received %d (%v) as number %d", capacity, v, err, i)
				}
			}
			for i := range n {
				all = append(all, marcel.Spawn(func() {
					v := -1
					switch i % 3 {
					case 0:
						v, _ = m.Recv()
					case 1:
						v, _ = m.RecvTimeout(time.Hour)
					case 2:
						rx := m.Receiver()
						marcel.Select(rx)
						v = rx.Value
					}
					got = append(got, fmt.Sprint(i, v))
				}))
				marcel.Yield()
			}
			for i := range n {
				must(t, m.Send(i))
				if _, err := m.TryRecv(); err == nil {
					t.Error("took a message that was another receiver's")
				}
			}
			for _, x := range all {
				must(t, x.Join())
			}
			for i, g := range got {
				if g != fmt.Sprint(i, i) {
					t.Errorf("capacity %d: receivers got %v", capacity, got)
					break
				}
			}
		})
	}
}

// boxState is a mailbox in the model: what is stored, and whether it is closed.
type boxState struct {
	stored string // one letter a message
	closed bool
}

type boxCall struct {
	name string
	v    byte
}

type boxResult struct {
	v   byte
	err error
}

// mailboxModel holds for a capacity of at least 1: there every call has its effect
// at one moment. A call in vain, also one that has waited, must have met a moment
// at which the mailbox was full or empty, or closed.
func mailboxModel(capacity int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return boxState{} },
		Step: func(state, in, out any) (bool, any) {
			s, c, r := state.(boxState), in.(boxCall), out.(boxResult)
			vain := r.err != nil && !errors.Is(r.err, marcel.ErrClosed)
			switch {
			case errors.Is(r.err, errOops): // perhaps it has not tried: see overBefore
				return true, s
			case c.name == "Close":
				s.closed = true
				return true, s
			case c.name == "Send" && vain:
				return len(s.stored) == capacity && !s.closed, s
			case c.name == "Send" && r.err != nil:
				return s.closed, s
			case c.name == "Send":
				ok := len(s.stored) < capacity && !s.closed
				s.stored += string(c.v)
				return ok, s
			case vain:
				return s.stored == "" && !s.closed, s
			case r.err != nil:
				return s.stored == "" && s.closed, s
			case s.stored == "" || s.stored[0] != r.v:
				return false, s
			}
			s.stored = s.stored[1:]
			return true, s
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, out) },
	}
}

func TestMailboxModel(t *testing.T) {
	op := func(name string, v byte, err error, begin, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: int(begin), Input: boxCall{name, v}, Call: begin, Output: boxResult{v, err}, Return: end}
	}
	for name, bad := range map[string][]porcupine.Operation{
		"overtaken":    {op("Send", 'a', nil, 1, 2), op("Send", 'b', nil, 3, 4), op("Recv", 'b', nil, 5, 6)},
		"twice":        {op("Send", 'a', nil, 1, 2), op("Recv", 'a', nil, 3, 4), op("Recv", 'a', nil, 5, 6)},
		"lost":         {op("Send", 'a', nil, 1, 2), op("Recv", 0, marcel.ErrWouldBlock, 3, 4)},
		"not drained":  {op("Send", 'a', nil, 1, 2), op("Close", 0, nil, 3, 4), op("Recv", 0, marcel.ErrClosed, 5, 6)},
		"closed, sent": {op("Close", 0, nil, 1, 2), op("Send", 'a', nil, 3, 4)},
		"there is room": {op("Send", 'a', nil, 1, 2), op("Send", 'b', marcel.ErrWouldBlock, 3, 4),
			op("Recv", 'a', nil, 5, 6)},
	} {
		if porcupine.CheckOperations(mailboxModel(2), bad) {
			t.Errorf("%s: not seen", name)
		}
	}
}

// overBefore marks the error of a context, which may have been over before the
// mailbox was looked at.
func overBefore(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errOops
	}
	return err
}

func TestMailboxIsLinearizable(t *testing.T) {
	worlds(t, func(w *world) {
		for round := range effort.Of(200) {
			const capacity = 2
			var (
				h    history
				m    = marcel.NewMailbox[byte](capacity)
				done sync.WaitGroup
				next atomic.Int32
			)
			record := func(id int, in boxCall, f func() (byte, error)) {
				begin := h.now.Add(1)
				v, err := f()
				end := h.now.Add(1)
				h.mu.Lock()
				h.ops = append(h.ops, porcupine.Operation{ClientId: id, Input: in, Call: begin, Output: boxResult{v, err}, Return: end})
				h.mu.Unlock()
			}
			done.Add(clients)
			for id := range clients {
				w.Go(func() {
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					tx, rx := m.Sender(0), m.Receiver()
					var never marcel.Semaphore
					for k := range calls {
						d := time.Duration(r.IntN(60)) * time.Microsecond
						if id%2 == 0 {
							v := byte('!' + next.Add(1))
							record(id, boxCall{"Send", v}, func() (byte, error) {
								switch r.IntN(4) {
								case 0:
									return 0, m.TrySend(v)
								case 1:
									return 0, m.SendTimeout(v, d)
								case 2:
									tx.Value = v
									if marcel.SelectTimeout(d, never.Case(), tx) < 0 {
										return 0, marcel.ErrWouldBlock
									}
									return 0, tx.Err
								}
								ctx, cancel := context.WithTimeout(context.Background(), d)
								defer cancel()
								return 0, overBefore(m.SendContext(ctx, v))
							})
						} else {
							record(id, boxCall{"Recv", 0}, func() (byte, error) {
								switch r.IntN(4) {
								case 0:
									return m.TryRecv()
								case 1:
									return m.RecvTimeout(d)
								case 2:
									switch {
									case marcel.SelectTimeout(d, rx, never.Case()) < 0:
										return 0, marcel.ErrWouldBlock
									case !rx.OK:
										return 0, marcel.ErrClosed
									}
									return rx.Value, nil
								}
								ctx, cancel := context.WithTimeout(context.Background(), d)
								defer cancel()
								v, err := m.RecvContext(ctx)
								return v, overBefore(err)
							})
						}
						if id == 0 && k == calls*3/4 && round%2 == 0 {
							record(id, boxCall{"Close", 0}, func() (byte, error) { m.Close(); return 0, nil })
						}
						if r.IntN(2) == 0 {
							marcel.Yield()
						}
					}
				})
			}
			done.Wait()
			h.check(w, mailboxModel(capacity))
		}
	})
}

// A rendezvous: each message has exactly one sender and one receiver, whose calls
// overlap; neither returns before the other has come.
func TestMailboxRendezvous(t *testing.T) {
	worlds(t, func(w *world) {
		const pairs = 3
		var m marcel.Mailbox[int]
		var clock atomic.Int64
		type span struct{ begin, end int64 }
		each := effort.Of(2000)
		sent, received := make([]span, pairs*each), make([]span, pairs*each)
		var got atomic.Int64
		var all sync.WaitGroup
		all.Add(2 * pairs)
		for p := range pairs {
			w.Go(func() {
				defer all.Done()
				r := rand.New(rand.NewPCG(uint64(p), 11))
				for i := range each {
					x := p*each + i
					for {
						begin := clock.Add(1)
						err := error(nil)
						if r.IntN(2) == 0 {
							err = m.Send(x)
						} else {
							err = m.SendTimeout(x, time.Duration(r.IntN(40))*time.Microsecond)
						}
						if err == nil {
							sent[x] = span{begin, clock.Add(1)}
							break
						}
					}
				}
			})
			w.Go(func() {
				defer all.Done()
				r := rand.New(rand.NewPCG(uint64(p), 12))
				for got.Load() < int64(pairs*each) {
					begin := clock.Add(1)
					v, err := m.RecvTimeout(time.Duration(r.IntN(40)) * time.Microsecond)
					if err != nil {
						continue
					}
					if received[v] != (span{}) {
						w.Errorf("%d was received twice", v)
					}
					received[v] = span{begin, clock.Add(1)}
					got.Add(1)
				}
			})
		}
		all.Wait()
		for x := range sent {
			if s, r := sent[x], received[x]; s.end < r.begin || r.end < s.begin || r.begin == 0 {
				w.Errorf("%d was sent during %v, received during %v", x, s, r)
			}
		}
	})
}
