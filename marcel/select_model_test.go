package marcel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/marcel"
)

// The model of Select: two semaphores, a mailbox, and those that wait for any of
// them, in order of arrival. On a scheduler of one VP it is known which waits when
// the next thing happens, so it is known which is served and with what.

const (
	onFirst = iota
	onSecond
	onIn  // receive from the mailbox
	onOut // send to it
	modelKinds
)

// step is one thing that happens.
type step struct {
	op    int   // release of one of the semaphores; or what follows
	order []int // of a Select: its cases
}

const (
	opTrySend = 2 + iota
	opTryRecv
	opSelect
	opTrySelect
	opSelectTimeout
	opsAll
)

// waiting is a Select that has begun.
type waiting struct {
	order []int
	value int // to be sent
	in    *marcel.Receiver[int]

	done  bool
	taken int // a kind; -1: none
}

func (x *waiting) waitsFor(kind int) bool { return slices.Contains(x.order, kind) }

type selectModel struct {
	capacity int
	sems     [2]marcel.Semaphore
	box      *marcel.Mailbox[int]
	next     int // value to send

	units  [2]int
	stored []int
	line   []*waiting
	all    []marcel.Thread
	due    map[*waiting]outcome // those that have been served, according to the model
}

type outcome struct{ taken, received int }

func (m *selectModel) first(kind int, but *waiting) *waiting {
	for _, x := range m.line {
		if _, served := m.due[x]; x != but && !served && x.waitsFor(kind) {
			return x
		}
	}
	return nil
}

// ready tells whether x could take this kind at once.
func (m *selectModel) ready(kind int, x *waiting) bool {
	switch kind {
	case onIn:
		return len(m.stored) > 0 || m.first(onOut, x) != nil
	case onOut:
		return len(m.stored) < m.capacity || m.first(onIn, x) != nil
	}
	return m.units[kind] > 0
}

// take is what taking that kind does; the value is the one sent, or received.
func (m *selectModel) take(kind int, x *waiting, sent int) (received int) {
	switch kind {
	case onIn:
		y := m.first(onOut, x)
		if y != nil {
			m.stored = append(m.stored, y.value)
			m.due[y] = outcome{taken: onOut}
		}
		received, m.stored = m.stored[0], m.stored[1:]
	case onOut:
		if y := m.first(onIn, x); y != nil {
			m.due[y] = outcome{onIn, sent}
		} else {
			m.stored = append(m.stored, sent)
		}
	default:
		m.units[kind]--
	}
	return received
}

func (m *selectModel) do(s step) error {
	switch s.op {
	case onFirst, onSecond:
		if y := m.first(s.op, nil); y != nil {
			m.due[y] = outcome{taken: s.op}
		} else {
			m.units[s.op]++
		}
		m.sems[s.op].Release()
	case opTrySend:
		m.next++
		want := m.ready(onOut, nil)
		if want {
			m.take(onOut, nil, m.next)
		}
		if got := m.box.TrySend(m.next) == nil; got != want {
			return fmt.Errorf("TrySend: %v, want %v", got, want)
		}
	case opTryRecv:
		want, v := m.ready(onIn, nil), 0
		if want {
			v = m.take(onIn, nil, 0)
		}
		if got, err := m.box.TryRecv(); got != v || (err == nil) != want {
			return fmt.Errorf("TryRecv: %d, %v, want %d, %v", got, err, v, want)
		}
	default:
		return m.choose(s)
	}
	return nil
}

// choose begins a Select; if something is ready it must be over at once, else it
// waits, or ends in vain.
func (m *selectModel) choose(s step) error {
	m.next++
	x := &waiting{order: s.order, value: m.next, in: m.box.Receiver()}
	cases := make([]marcel.Case, len(s.order))
	for i, kind := range s.order {
		switch kind {
		case onIn:
			cases[i] = x.in
		case onOut:
			cases[i] = m.box.Sender(x.value)
		default:
			cases[i] = m.sems[kind].Case()
		}
	}
	ready := slices.ContainsFunc(s.order, func(kind int) bool { return m.ready(kind, x) })
	t := marcel.Spawn(func() {
		i := -1
		switch s.op {
		case opSelect:
			i = marcel.Select(cases...)
		case opTrySelect:
			i = marcel.TrySelect(cases...)
		case opSelectTimeout:
			i = marcel.SelectTimeout(time.Microsecond, cases...)
		}
		x.taken = i
		if i >= 0 {
			x.taken = s.order[i]
		}
		x.done = true
	})
	m.all = append(m.all, t)
	if ready || s.op != opSelect {
		if err := t.Join(); err != nil {
			return err
		}
		if !ready {
			if x.taken != -1 {
				return fmt.Errorf("took %d, and nothing was ready", x.taken)
			}
			return nil
		}
		if x.taken < 0 || !m.ready(x.taken, x) {
			return fmt.Errorf("took %d of %v, which was not ready", x.taken, s.order)
		}
		kind := x.taken
		if v := m.take(kind, x, x.value); kind == onIn && v != x.in.Value {
			return fmt.Errorf("received %d, want %d", x.in.Value, v)
		}
		return nil
	}
	m.line = append(m.line, x)
	marcel.Yield() // it parks
	return nil
}

// check lets those run that are due, and sees that they and no other one were served.
func (m *selectModel) check() error {
	for range 3 {
		marcel.Yield()
	}
	for i := 0; i < len(m.line); i++ {
		x := m.line[i]
		want, due := m.due[x]
		switch {
		case x.done != due:
			return fmt.Errorf("a Select of %v: over %v, want %v", x.order, x.done, due)
		case !due:
			continue
		case x.taken != want.taken || x.taken == onIn && x.in.Value != want.received:
			return fmt.Errorf("a Select of %v took %d and received %d, want %v", x.order, x.taken, x.in.Value, want)
		}
		m.line = slices.Delete(m.line, i, i+1)
		delete(m.due, x)
		i--
	}
	if n := m.box.Len(); n != len(m.stored) {
		return fmt.Errorf("%d messages are stored, want %d", n, len(m.stored))
	}
	return nil
}

// finish serves all that wait and looks at what is left.
func (m *selectModel) finish() error {
	for len(m.line) > 0 {
		x := m.line[0]
		s := step{op: x.order[0]}
		switch s.op {
		case onIn:
			s.op = opTrySend
		case onOut:
			s.op = opTryRecv
		}
		if err := m.do(s); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return err
		}
	}
	for i := range m.sems {
		for m.sems[i].TryAcquire() {
			m.units[i]--
		}
		if m.units[i] != 0 {
			return fmt.Errorf("semaphore %d has lost %d units", i, m.units[i])
		}
	}
	for _, t := range m.all {
		if err := t.Join(); err != nil {
			return err
		}
	}
	return nil
}

func TestSelectModel(t *testing.T) {
	s := start(t, undisturbed())
	rapid.Check(t, func(rt *rapid.T) {
		m := &selectModel{capacity: rapid.IntRange(0, 2).Draw(rt, "capacity"), due: map[*waiting]outcome{}}
		m.box = marcel.NewMailbox[int](m.capacity)
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				op:    rapid.IntRange(0, opsAll-1).Draw(rt, "op"),
				order: rapid.SliceOfN(rapid.IntRange(0, modelKinds-1), 1, 5).Draw(rt, "order"),
			}
		}), 1, 40).Draw(rt, "steps")
		err := error(nil)
		at := 0
		marcel.RunOn(s, func() {
			for at = 0; at < len(steps) && err == nil; at++ {
				if err = m.do(steps[at]); err == nil {
					err = m.check()
				}
			}
			if err == nil {
				err = m.finish()
			} else { // let them go
				for range m.all {
					m.sems[0].Release()
					m.sems[1].Release()
				}
				m.box.Close()
			}
		})
		if err != nil {
			rt.Fatalf("step %d: %v", at-1, err)
		}
	})
}
