package am

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// waits are the forms of a wait for a Reply.
var waits = []func(r *Reply) error{
	func(r *Reply) error { _, _, err := r.Wait(); return err },
	func(r *Reply) error { _, _, err := r.WaitContext(context.Background()); return err },
	func(r *Reply) error {
		done, err := r.Test()
		for ; !done && err == nil; done, err = r.Test() {
		}
		return err
	},
	func(r *Reply) error {
		marcel.Select(r.Case(), marcel.After(time.Hour))
		if !r.IsDone() {
			return errors.New("the case was taken before the answer has come")
		}
		done, err := r.Test()
		if !done && err == nil {
			return errors.New("the answer has come, and Test does not say so")
		}
		return err
	},
}

// TestIdleReply: all forms of a wait say that no request was sent, and none waits, as with a Request of nmad.
func TestIdleReply(t *testing.T) {
	for _, r := range []*Reply{nil, {}} {
		for i, wait := range waits {
			if err := wait(r); !errors.Is(err, nmad.ErrNotStarted) {
				t.Errorf("form %d: %v", i, err)
			}
		}
		if done, _ := r.Test(); done || !r.IsDone() || !r.Case().Try() {
			t.Errorf("Test %t, IsDone %t: a Request of nmad says false, and true", done, r.IsDone())
		}
	}
}

// TestCaseAgainstAnswer: a Select that another case ends leaves the Reply as it was.
func TestCaseAgainstAnswer(t *testing.T) {
	overAll(t, Config{}, func(t *testing.T, j *testJob, other int) {
		if other == 0 {
			return // the answer comes as the requester polls
		}
		j.handle(1, echo)
		var r Reply
		d, err := j.worlds[0].Domain(DomainConfig{Number: 2, Access: nmad.Serialized})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := d.RequestTo(&r, other, 0, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
			for marcel.Select(r.Case(), marcel.After(10*time.Microsecond)) != 0 {
			}
			if _, _, err := r.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCaseOfLostPeer: the end of the peer wakes a Select in a domain whose own gate to the peer lives on.
func TestCaseOfLostPeer(t *testing.T) {
	overAll(t, Config{}, func(t *testing.T, j *testJob, other int) {
		if other == 0 {
			return // no gate to another process
		}
		j.handle(1, func(*Token, []uint64, []byte) {})
		var all sync.WaitGroup
		for i, access := range []nmad.Access{nmad.Shared, nmad.Serialized, nmad.Private} {
			all.Go(func() { // beside the others: each Close waits
				if err := j.caseOfLostPeer(access, 2+i, 72+i, other); err != nil {
					t.Errorf("%v: %v", access, err)
				}
			})
		}
		all.Wait()
	})
}

// caseOfLostPeer selects on the reply to a request that fails, of a domain of rank 0 with that access and number, to a
// domain that its target opens later.
func (j *testJob) caseOfLostPeer(access nmad.Access, number, later, other int) error {
	d, err := j.worlds[0].Domain(DomainConfig{Number: number, Access: access})
	if err != nil {
		return err
	}
	var r Reply
	if err := d.RequestTo(&r, other, later, 1, nil, nil); err != nil {
		return err
	}
	lost := &nmad.PeerError{Rank: other, Reason: "the test says so", Err: nmad.ErrPeerLost}
	time.AfterFunc(time.Millisecond, func() { r.peer.fail(lost) })
	marcel.Select(r.Case())
	var wrong error
	if _, _, err := r.Wait(); !errors.Is(err, lost) {
		wrong = fmt.Errorf("the wait for the reply ended with: %w", err)
	}
	late, err := j.worlds[other].Domain(DomainConfig{Number: later}) // takes the request in
	if err != nil {
		return errors.Join(wrong, err)
	}
	return errors.Join(wrong, d.Close(), late.Close())
}
