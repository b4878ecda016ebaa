package runtime_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/test/runtime/exercise"
)

// TestTraces: execution traces that begin and end while threads switch, block and are stopped,
// and what a flight recorder has kept meanwhile, are whole: go tool trace reads them.
func TestTraces(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken already")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command here")
	}
	end := time.Now().Add(effort.Of(2 * time.Second))
	done := make(chan struct{})
	go func() {
		defer close(done)
		checked(t)(exercise.All(time.Until(end)))
	}()
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 100 * time.Millisecond, MaxBytes: 4 << 20})
	var traces [][]byte
	for n := 0; time.Now().Before(end) && len(traces) < 3; n++ {
		if n%2 == 1 {
			if err := recorder.Start(); err != nil {
				t.Fatal(err)
			}
		}
		var b, kept bytes.Buffer
		if err := trace.Start(&b); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
		if n%2 == 1 {
			if _, err := recorder.WriteTo(&kept); err != nil {
				t.Fatal(err)
			}
			traces = append(traces, kept.Bytes())
		}
		trace.Stop()
		if n%2 == 1 {
			recorder.Stop()
		}
		traces = append(traces, b.Bytes())
		time.Sleep(10 * time.Millisecond)
	}
	<-done
	for n, b := range traces {
		name := filepath.Join(t.TempDir(), strconv.Itoa(n))
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var events, complaint bytes.Buffer
		cmd := exec.Command("go", "tool", "trace", "-d=parsed", name)
		cmd.Stdout, cmd.Stderr = &events, &complaint
		if err := cmd.Run(); err != nil || complaint.Len() > 0 {
			t.Errorf("trace %d, of %d bytes: %v\n%s", n, len(b), err, tail(complaint.String()))
		}
		t.Logf("trace %d: %d bytes, %d events", n, len(b), bytes.Count(events.Bytes(), []byte("\n")))
	}
}
