package pingpong

import (
	"fmt"
	"os"

	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// Trace asks both ranks to record what they do.
type Trace struct {
	Events int       `json:"events"` // to keep for each VP
	Files  [2]string `json:"files"`  // where each rank leaves its timeline
}

// record begins to trace this rank, if that was asked for. The function that it returns ends that and leaves the file.
func (o *Options) record(rank int) (end func() error, err error) {
	if o.Trace == nil {
		return func() error { return nil }, nil
	}
	s := sched.Default()
	if err := observe.StartTrace(s, observe.TraceConfig{Events: o.Trace.Events}); err != nil {
		return nil, fmt.Errorf("trace rank %d: %w", rank, err)
	}
	return func() error {
		t, err := observe.StopTrace(s)
		if err != nil {
			return fmt.Errorf("trace rank %d: %w", rank, err)
		}
		t.Description = fmt.Sprintf("rank %d (pid %d)", rank, t.PID)
		f, err := os.Create(o.Trace.Files[rank])
		if err != nil {
			return fmt.Errorf("trace rank %d: %w", rank, err)
		}
		if err := timeline.Of(t).Write(f); err != nil {
			f.Close()
			return fmt.Errorf("trace rank %d: %w", rank, err)
		}
		return f.Close()
	}, nil
}
