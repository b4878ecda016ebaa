package rma

import (
	"context"
	"errors"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestIdleEvent: an Event that no operation has used says so as a Request of nmad does, and makes no caller wait.
func TestIdleEvent(t *testing.T) {
	for name, e := range map[string]*Event{"nil": nil, "zero": {}} {
		r := &nmad.Request{}
		done, err := e.Test()
		if like, _ := r.Test(); done != like || !errors.Is(err, nmad.ErrNotStarted) {
			t.Errorf("%s: Test returns %t, %v", name, done, err)
		}
		if e.IsDone() != r.IsDone() {
			t.Errorf("%s: IsDone returns %t", name, e.IsDone())
		}
		if err := e.Wait(); !errors.Is(err, nmad.ErrNotStarted) {
			t.Errorf("%s: Wait returns %v", name, err)
		}
		if err := e.WaitContext(context.Background()); !errors.Is(err, nmad.ErrNotStarted) {
			t.Errorf("%s: WaitContext returns %v", name, err)
		}
		if !e.Case().Try() || !r.Case().Try() {
			t.Errorf("%s: its case is not ready", name)
		}
	}
}
