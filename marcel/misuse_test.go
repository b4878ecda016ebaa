package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// objects are the types whose methods are called on what was not made.
var objects = []reflect.Type{
	reflect.TypeFor[marcel.Semaphore](), reflect.TypeFor[marcel.Mutex](), reflect.TypeFor[marcel.RecursiveMutex](),
	reflect.TypeFor[marcel.RWMutex](), reflect.TypeFor[marcel.SpinLock](), reflect.TypeFor[marcel.Cond](),
	reflect.TypeFor[marcel.Barrier](), reflect.TypeFor[marcel.Phase](), reflect.TypeFor[marcel.Once](),
	reflect.TypeFor[marcel.Latch](), reflect.TypeFor[marcel.WaitGroup](), reflect.TypeFor[marcel.Group](),
	reflect.TypeFor[marcel.Futex](), reflect.TypeFor[marcel.Timer](), reflect.TypeFor[marcel.Ticker](),
	reflect.TypeFor[marcel.TickerCase](), reflect.TypeFor[marcel.Mailbox[int]](), reflect.TypeFor[marcel.Receiver[int]](),
	reflect.TypeFor[marcel.Sender[int]](), reflect.TypeFor[marcel.ChanReceiver[int]](),
	reflect.TypeFor[marcel.WeightedSemaphore](), reflect.TypeFor[marcel.Future[int]](),
	// Names for types of sched.
	reflect.TypeFor[marcel.Bubble](), reflect.TypeFor[marcel.Gang](), reflect.TypeFor[marcel.Key[int]](), reflect.TypeFor[marcel.Thread](),
}

// forGood lists what waits for others, as it should, if its receiver is a zero value.
var forGood = []string{"Semaphore.Acquire", "Semaphore.AcquireOrCancel", "Mailbox.Send", "Mailbox.Recv", "Mailbox.All", "Group.Go"}

// inert lists what does not look at its receiver, or not yet, or for which nil stands for none.
var inert = []string{"RWMutex.RLocker", "Mailbox.All", "Gang.Idle", "Bubble.Adopt"}

// TestMisuse calls each method with nothing: on nil pointers and on zero values, with
// nil, zero and ordinary arguments; as a thread, and on a goroutine. It may panic, or
// fail, but the VP goes on, and so do the bubbles of its scheduler; and a nil pointer
// does not go unnoticed.
func TestMisuse(t *testing.T) {
	for _, typ := range objects {
		name := nameOf(typ)
		for i := range reflect.PointerTo(typ).NumMethod() {
			m := reflect.PointerTo(typ).Method(i)
			full := name + "." + m.Name
			t.Run(full, func(t *testing.T) {
				misuse(t, func(t *testing.T) {
					for _, args := range arguments(t, m.Type) {
						if !callOn(m, reflect.Zero(reflect.PointerTo(typ)), args) && !slices.Contains(inert, full) {
							t.Errorf("a nil %s: no panic and no error with %v", name, args)
						}
						if !slices.Contains(forGood, full) {
							callOn(m, reflect.New(typ), args)
						}
					}
				})
			})
		}
	}
}

// nameOf is the name of a type, without its parameters.
func nameOf(typ reflect.Type) string {
	name, _, _ := strings.Cut(typ.Name(), "[")
	return name
}

// callOn calls method m of the receiver, and tells whether it panicked or failed.
func callOn(m reflect.Method, receiver reflect.Value, args []reflect.Value) (noticed bool) {
	defer func() { noticed = recover() != nil || noticed }()
	var out []reflect.Value
	if args = append([]reflect.Value{receiver}, args...); m.Type.IsVariadic() {
		out = m.Func.CallSlice(args)
	} else {
		out = m.Func.Call(args)
	}
	if len(out) == 0 {
		return false
	}
	err, ok := out[len(out)-1].Interface().(error)
	return ok && err != nil
}

// arguments are lists of them for a method: zero values, and ordinary ones, none of
// which lets it wait.
func arguments(t *testing.T, method reflect.Type) [][]reflect.Value {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	ordinary := []any{over, time.Microsecond, 1, uint32(1), func() {}, func() error { return nil }, &atomic.Uint32{}}
	var zero, usual []reflect.Value
	for i := 1; i < method.NumIn(); i++ {
		in := method.In(i)
		zero = append(zero, reflect.Zero(in))
		usual = append(usual, reflect.Zero(in))
		for _, x := range ordinary {
			if reflect.TypeOf(x).AssignableTo(in) {
				usual[i-1] = reflect.ValueOf(x)
				break
			}
		}
	}
	if len(zero) == 0 {
		return [][]reflect.Value{nil}
	}
	return [][]reflect.Value{zero, usual}
}

// misuse calls do as a thread of a scheduler with one VP, and on a goroutine. Neither
// may keep others from going on.
func misuse(t *testing.T, do func(t *testing.T)) {
	t.Helper()
	s := start(t, undisturbed())
	within(t, func() {
		marcel.RunOn(s, func() {
			do(t)
			marcel.Yield()
			ran := false
			must(t, marcel.Spawn(func() { ran = true }).Join())
			if !ran {
				t.Error("a thread that was spawned later did not run")
			}
			must(t, marcel.NewBubbleOn(s, nil).Wake())
		})
		do(t)
		must(t, marcel.NewBubbleOn(s, nil).Wake())
		must(t, marcel.NewBubble(nil).Wake())
	}, s)
}

// The table of objects has each type of the package that has methods of its own.
func TestEachObjectIsMisused(t *testing.T) {
	known := 0
	for _, x := range documentation(t).Types {
		if _, ok := x.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType); !ok || len(x.Methods) == 0 {
			continue
		}
		known++
		if !slices.ContainsFunc(objects, func(o reflect.Type) bool { return nameOf(o) == x.Name }) {
			t.Errorf("%s is missing", x.Name)
		}
	}
	if known < 15 {
		t.Errorf("%d types: is this the package?", known)
	}
}

type strangeContext struct{ context.Context }

func (strangeContext) Done() <-chan struct{} { panic("a strange context") }

// What the walk through the methods does not come to: arguments of functions, and
// cases that were not made.
func TestMisuseOfFunctions(t *testing.T) {
	strange := strangeContext{context.Background()}
	var none context.Context
	for name, do := range map[string]func(){
		"Requeue to nil":                 func() { new(marcel.Futex).Requeue(nil, 1, 1) },
		"Select, zero Receiver":          func() { marcel.SelectTimeout(time.Microsecond, &marcel.Receiver[int]{}) },
		"Select, zero Sender":            func() { marcel.SelectTimeout(time.Microsecond, &marcel.Sender[int]{}) },
		"Select, zero TickerCase":        func() { marcel.SelectTimeout(time.Microsecond, &marcel.TickerCase{}) },
		"Select, Cond without a Mutex":   func() { marcel.SelectTimeout(time.Microsecond, new(marcel.Cond).Case()) },
		"Select, nil context":            func() { _, _ = marcel.SelectContext(none) },
		"SleepContext, nil":              func() { _ = marcel.SleepContext(none, 1) },
		"SleepContext, strange":          func() { _ = marcel.SleepContext(strange, 1) },
		"AcquireContext, strange":        func() { _ = new(marcel.Semaphore).AcquireContext(strange) },
		"Phase.WaitContext, strange":     func() { _ = marcel.NewBarrier(2).Arrive().WaitContext(strange) },
		"Done(nil)":                      func() { marcel.Done(none) },
		"Blocking(nil)":                  func() { marcel.Blocking(nil) },
		"SpawnWith, zero Bubble":         func() { marcel.SpawnWith(marcel.Attr{Bubble: new(marcel.Bubble)}, func() {}) },
		"SpawnWith, no such VP":          func() { marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(99)}, func() {}) },
		"SpawnWith, no such priority":    func() { marcel.SpawnWith(marcel.Attr{Priority: 99}, func() {}) },
		"Spawn(nil)":                     func() { marcel.Spawn(nil) },
		"SpawnBody(nil)":                 func() { marcel.SpawnBody(nil) },
		"SpawnWith(nil)":                 func() { marcel.SpawnWith(marcel.Attr{}, nil) },
		"Scheduler.Spawn(nil)":           func() { sched.Default().Spawn(marcel.Attr{}, nil) },
		"Scheduler.Spawn on nil":         func() { (*sched.Scheduler)(nil).Spawn(marcel.Attr{}, func() {}) },
		"Run(nil)":                       func() { marcel.Run(nil) },
		"RunOn(nil)":                     func() { marcel.RunOn(nil, func() {}) },
		"AfterFunc(nil)":                 func() { marcel.AfterFunc(1, nil) },
		"WaitGroup.Go(nil)":              func() { new(marcel.WaitGroup).Go(nil) },
		"Group.TryGo(nil)":               func() { new(marcel.Group).TryGo(nil) },
		"RemoveBubble of a nil bubble":   func() { panicIf(marcel.NewBubble(nil).RemoveBubble(nil)) },
		"RemoveBubble of a zero bubble":  func() { panicIf(marcel.NewBubble(nil).RemoveBubble(new(marcel.Bubble))) },
		"InsertBubble of a zero bubble":  func() { panicIf(marcel.NewBubble(nil).InsertBubble(new(marcel.Bubble))) },
		"Insert into a bubble, no one":   func() { panicIf(marcel.NewBubble(nil).Insert(marcel.Thread{})) },
		"Remove from a bubble, no one":   func() { panicIf(marcel.NewBubble(nil).Remove(marcel.Thread{})) },
		"WakeOn of a bubble, nowhere":    func() { panicIf(marcel.NewBubble(nil).WakeOn(nil)) },
		"Place of a bubble, nowhere":     func() { panicIf(marcel.NewBubble(nil).Place(nil)) },
		"a policy that panics":           func() { panicIf(marcel.NewBubble(strangePolicy{}).Wake()) },
		"Ended of no thread is no wait":  func() { marcel.Select(marcel.Ended(marcel.Thread{})); panic("as it should be") },
		"NewBarrier(0)":                  func() { marcel.NewBarrier(0) },
		"NewLatch(-1)":                   func() { marcel.NewLatch(-1) },
		"NewTicker(0)":                   func() { marcel.NewTicker(0) },
		"NewMailbox(-1)":                 func() { marcel.NewMailbox[int](-1) },
		"OneVP(-1)":                      func() { marcel.OneVP(-1) },
		"Wait for a Timer of AfterFunc":  func() { afterLong(func(x *marcel.Timer) { x.Wait() }) },
		"Case of a Timer of AfterFunc":   func() { afterLong(func(x *marcel.Timer) { x.Case() }) },
		"Unlock of an unlocked Mutex":    func() { new(marcel.Mutex).Unlock() },
		"RUnlock of an unlocked RWMutex": func() { new(marcel.RWMutex).RUnlock() },
	} {
		t.Run(name, func(t *testing.T) {
			misuse(t, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("the misuse went unnoticed")
					}
				}()
				do()
			})
		})
	}
}

// panicIf makes an error what a panic is.
func panicIf(err error) {
	if err != nil {
		panic(err)
	}
}

func afterLong(do func(*marcel.Timer)) {
	x := marcel.AfterFunc(time.Hour, func() {})
	defer x.Stop()
	do(x)
}

type strangePolicy struct{ marcel.Spread }

func (strangePolicy) Wake(*marcel.Bubble, *topo.Item) { panic("a strange policy") }

// A policy that panicked is asked again.
func TestPolicyPanicsAgain(t *testing.T) {
	b := marcel.NewBubble(strangePolicy{})
	for i := range 2 {
		within(t, func() { panics(t, "a strange policy", func() { t.Log(i, b.Wake()) }) })
	}
}

// The errors say what is wrong.
func TestErrNoBubble(t *testing.T) {
	whole, zero := marcel.NewBubble(nil), new(marcel.Bubble)
	for _, none := range []*marcel.Bubble{nil, zero} {
		for i, err := range []error{
			none.Wake(), none.WakeOn(nil), none.Place(nil), none.Join(), none.Insert(marcel.Self()), none.Remove(marcel.Self()),
			none.InsertBubble(whole), none.RemoveBubble(whole), whole.InsertBubble(none), whole.RemoveBubble(none),
		} {
			if !errors.Is(err, marcel.ErrNoBubble) {
				t.Errorf("%v, call %d: %v", none == nil, i, err)
			}
		}
		panics(t, fmt.Sprint(marcel.ErrNoBubble), func() { none.Close() })
	}
}
