package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/marcel/timeline"
)

// TestNothing: without the variables nothing is started.
func TestNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Setenv(Trace, "")
	t.Setenv(monitor.Environment, "")
	o, err := FromEnvironment()
	if err != nil || o.server != nil || o.traced != nil {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := o.End(); err != nil {
		t.Error(err)
	}
	if err := (*Observed)(nil).End(); err != nil {
		t.Error(err)
	}
}

// TestTrace: the timeline of rank 2 is in the file with its number, and has the thread that ran meanwhile. The socket is
// there as long.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	t.Setenv(Trace, filepath.Join(dir, "t.json"))
	t.Setenv(monitor.Environment, socket)
	t.Setenv(rank, "2")
	marcel.Run(func() {}) // now the default scheduler runs, so the trace begins at once
	o, err := FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	client, err := monitor.Attach(socket)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if err := marcel.SpawnWith(marcel.Attr{Name: "observed thread"}, func() { marcel.Yield() }).Join(); err != nil {
		t.Fatal(err)
	}
	if err := o.End(); err != nil {
		t.Fatal(err)
	}
	if err := o.End(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "t.json.2"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "observed thread") {
		t.Error("the timeline does not have the thread")
	}
	line, err := timeline.Read(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := line.Check(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is left")
	}
}

// TestRefused: a file that cannot be written is refused at once.
func TestRefused(t *testing.T) {
	t.Setenv(Trace, filepath.Join(t.TempDir(), "none", "t.json"))
	t.Setenv(monitor.Environment, "")
	if _, err := FromEnvironment(); err == nil || !strings.Contains(err.Error(), Trace) {
		t.Errorf("%v", err)
	}
}
