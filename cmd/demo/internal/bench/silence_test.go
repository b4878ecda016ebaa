package bench

import (
	"errors"
	"testing"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/sched"
)

// TestWhilePending: when it calls back, the sleeper blocks for the pending receive, or has done so.
func TestWhilePending(t *testing.T) {
	_, err := perform(1, sched.Fair, binding.Allowed(), 1, func(s *stage, _ int) error {
		return whilePending(s.engine, func() error {
			// The second look is later: a sleeper that has left by the first one is counted by then.
			if s.engine.Explain().Asleep == "nothing" && s.engine.Explain().Sleeps == 0 {
				return errors.New("no thread has slept in the kernel")
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
