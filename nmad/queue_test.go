package nmad

import (
	"errors"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// TestQueueOfClosedSession: none waits for a queue for ever whose session is closed, whether it began
// before or afterwards; what is in the queue still comes out.
func TestQueueOfClosedSession(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		idle, full := j.sessions[0].NewQueue(), j.sessions[0].NewQueue()
		waiting := make(chan error)
		go func() {
			_, err := idle.Wait()
			waiting <- err
		}()
		var r, x Request
		if err := j.sessions[0].Gate(0).Post(&r, &Operation{Match: Tag(1), Queue: full}); err != nil {
			t.Fatal(err)
		}
		if err := j.sessions[0].Gate(1).Post(&x, &Operation{Kind: KindRecv, Match: Tag(1), Queue: full}); err != nil {
			t.Fatal(err)
		}
		j.close()
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("a wait that had begun: %v", err)
		}
		left := map[*Request]bool{&r: true, &x: true} // in the order in which they ended, which beside a worker is any
		for range 2 {
			got, err := full.Wait()
			if !left[got] || err != nil {
				t.Errorf("what was in the queue: %p, %v, want one of %v", got, err, left)
			}
			delete(left, got)
		}
		for range 2 {
			if _, err := full.Wait(); !errors.Is(err, ErrClosed) {
				t.Errorf("a wait that begins: %v", err)
			}
		}
	})
}
