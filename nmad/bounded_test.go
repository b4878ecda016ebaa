package nmad

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// TestBounded: Send and Recv with a context work as without; a receive whose context ends takes no later message; a long send whose context ends goes on.
func TestBounded(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		soon := func() context.Context {
			ctx, stop := context.WithTimeout(t.Context(), time.Second/2) // not over before a send has begun: then it does not begin
			t.Cleanup(stop)
			return ctx
		}
		buf := make([]byte, 1<<20)
		if n, err := RecvContext(soon(), one, 1, buf); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing comes: %d, %v", n, err)
		}
		over, stop := context.WithCancelCause(t.Context())
		why := errors.New("why")
		stop(why)
		if err := SendContext(over, zero, 1, nil); !errors.Is(err, why) {
			t.Errorf("sent with a context that is over: %v", err)
		}
		if _, err := RecvContext(over, one, 1, nil); !errors.Is(err, why) {
			t.Errorf("received with a context that is over: %v", err)
		}
		if err := SendContext(t.Context(), zero, 1, []byte("short")); err != nil {
			t.Error(err)
		}
		if n, err := RecvContext(t.Context(), one, 1, buf); err != nil || string(buf[:n]) != "short" {
			t.Errorf("%q, %v", buf[:n], err)
		}
		long := pattern(8<<20, 3)
		if err := SendContext(soon(), zero, 2, long); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a long send without a receive: %v", err)
		}
		got := make([]byte, len(long))
		if n, err := RecvContext(t.Context(), one, 2, got); err != nil || n != len(long) || string(got) != string(long) {
			t.Errorf("what went on: %d bytes, %v", n, err)
		}
		j.close()
	})
}
