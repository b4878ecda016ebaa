package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/launch"
)

// TestAccess: each operation of ours gives one figure, which rank 0 prints.
func TestAccess(t *testing.T) {
	for what := range accessTitles {
		var out, rest bytes.Buffer
		j, err := launch.Start(launch.Spec{N: 2, Args: []string{"access", what, "8", "3"},
			Stdout: func(rank int) io.Writer { return []io.Writer{&out, &rest}[rank] }})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Wait(); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if _, err := parseNumber(out.Bytes(), 1); err != nil || rest.Len() > 0 {
			t.Errorf("%s: %v; the other one says %q", what, err, &rest)
		}
	}
}

// TestAccessUsage: a rank says what it lacks, and leaves the job.
func TestAccessUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"put", "8"}, {"put", "0", "1"}, {"put", "8", "0"}, {"put", "many", "1"}, {"add", "8", "1"}} {
		if err := runAccess(t.Context(), args); !errors.Is(err, errUsage) || strings.Contains(err.Error(), "\n\n") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestAccessPeers runs one operation of each peer once, and with -long each.
func TestAccessPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("the launchers take seconds")
	}
	t.Parallel() // most of it is waiting for launchers
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.remove()
	cpus, err := usableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, c := range w.oneSided("") {
		if ran[c.name] && !effort.Long() {
			continue
		}
		ran[c.name] = true
		if err := c.peer.build(t.Context()); errors.Is(err, errMissing) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if f, err := run(t.Context(), c.peer, 1, 100, [2]int{cpus[0], cpus[len(cpus)-1]}); err != nil {
			t.Error(err)
		} else if f.Median > 1e9 {
			t.Errorf("%s: %s takes %v ns", c.title(1), c.peer.name, f.Median)
		}
	}
}

// TestParseUCX: the last line of ucx_perftest, and none that is not one.
func TestParseUCX(t *testing.T) {
	text := []byte("| Test | heads |\n+----+\n   20000   0.030   0.039   0.040   193.41   193.41   25350885   25350885\n")
	if f, err := parseUCX(text, 1, false); err != nil || f.Median != 39 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := parseUCX(text, 1, true); err != nil || f.Median != 30 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, text := range []string{"", "refused", "a b c", "1 0 0"} {
		if f, err := parseUCX([]byte(text), 1, false); err == nil {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// TestBetterPeer: of an operation the peer that takes less is named, noted figures aside.
func TestBetterPeer(t *testing.T) {
	var out bytes.Buffer
	document{Rows: []jsonRow{
		{Name: "onesided", Row: "put", Regime: "near", Ours: 10, Peer: "Open MPI, put", PeerNs: 100, Ratio: 0.1},
		{Name: "onesided-ucx", Row: "put", Regime: "near", Ours: 10, Peer: "UCX, ucp_put", PeerNs: 20, Ratio: 0.5},
		{Name: "onesided-noted", Row: "put", Regime: "near", Ours: 10, Peer: "GASNet", PeerNs: 2, Ratio: 5},
	}}.writeBest(&out)
	if got := out.String(); !strings.Contains(got, "UCX, ucp_put") || strings.Contains(got, "Open MPI") || strings.Contains(got, "GASNet") {
		t.Error(got)
	}
}
