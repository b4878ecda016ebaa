package readme

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "write the figures of docs/measurements into README.md, in place of comparing them")

// A measured row, as demo bench and test/peers write it to JSON.
type measured struct {
	Name      string   `json:"name"`
	Operation string   `json:"operation"`
	Size      int      `json:"size"`
	Ours      float64  `json:"ours_ns"`
	Peer      string   `json:"peer"`
	PeerNS    float64  `json:"peer_ns"`
	Ratio     float64  `json:"ratio"`
	Probe     *float64 `json:"probe_ns"` // nil: the row does not cross cores
	OneCPU    bool     `json:"one_cpu"`
}

// shown are the rows of README.md: at most twelve.
var shown = []struct {
	title, experiment, name string
	size                    int // of messages
	command                 string
}{
	{"yield, 1 VP", "bench", "yield, 1 VP", 0, "`demo bench`"},
	{"spawn and join, 1 VP", "bench", "spawn+join one by one, 1 VP", 0, "`demo bench`"},
	{"wake by a semaphore, 1 VP", "bench", "semaphore ping-pong, 1 VP", 0, "`demo bench`"},
	{"the same, 2 VPs", "bench", "semaphore ping-pong, 2 VPs", 0, "`demo bench`"},
	{"the same, each thread bound to its VP", "bench", "semaphore ping-pong, each on its VP", 0, "`demo bench`"},
	{"`fib(21)` with `Do`, 2 VPs", "bench", "program: fib(21), Do, 2 VPs", 0, "`demo bench`"},
	{"64 workers on a Go channel, 2 VPs", "bench", "program: pool of 64 on a Go channel, 2 VPs", 0, "`demo bench`"},
	{"shm, 1 byte, one way", "peers", "shm", 1, "`go run ./test/peers`"},
	{"shm, 64 KiB", "peers", "ucx", 64 << 10, "`go run ./test/peers -only ucx`"},
	{"shm, 1 MiB", "peers", "shm", 1 << 20, "`go run ./test/peers`"},
	{"tcp, 1 byte", "peers", "tcp", 1, "`go run ./test/peers`"},
}

// nearLimit divides near from far cores, in ns for one cache line, one way.
const nearLimit = 120

// commitName is how README.md names the commit on which its figures were taken.
var commitName = regexp.MustCompile(`commit [0-9a-f]{8}`)

// table is README's, from the newest file of docs/measurements that has each row. commit is that of the newest file of
// demo bench.
func table(t *testing.T) (text, commit string) {
	files, err := filepath.Glob(filepath.Join(root, "docs/measurements/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("docs/measurements has %v, %v", files, err)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(b, a) }) // by date, the newest first
	rows := map[string][]measured{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Experiment string     `json:"experiment"`
			Rows       []measured `json:"rows"`
			Machine    struct {
				Commit string `json:"commit"`
			} `json:"machine"`
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if document.Experiment == "bench" && commit == "" && len(document.Machine.Commit) >= 8 {
			commit = "commit " + document.Machine.Commit[:8]
		}
		rows[document.Experiment] = append(rows[document.Experiment], document.Rows...)
	}
	var b strings.Builder
	b.WriteString("| ours / peer, ratio | peer | near cores | far cores | command |\n|---|---|--:|--:|---|\n")
	for _, s := range shown {
		var near, far string
		peer := ""
		for _, r := range rows[s.experiment] {
			if r.Name != s.name || r.Size != s.size && s.experiment != "bench" || r.Ours <= 0 || r.PeerNS <= 0 {
				continue
			}
			text := cell(r)
			switch {
			case r.Probe == nil || r.OneCPU:
				near, far = cmp.Or(near, text), cmp.Or(far, "the same")
			case *r.Probe < nearLimit:
				near = cmp.Or(near, text)
			default:
				far = cmp.Or(far, text)
			}
			peer = cmp.Or(peer, r.Peer)
		}
		if near == "" && far == "" {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.title, peer, cmp.Or(near, "not measured"), cmp.Or(far, "not measured"), s.command)
	}
	return b.String(), commit
}

// cell has both times in the unit of ours, and the ratio.
func cell(r measured) string {
	unit, by := "ns", 1.0
	switch {
	case r.Ours >= 1e6:
		unit, by = "ms", 1e6
	case r.Ours >= 1e3:
		unit, by = "us", 1e3
	}
	return fmt.Sprintf("%s / %s %s, **%.2f**", digits(r.Ours/by), digits(r.PeerNS/by), unit, r.Ratio)
}

// digits writes x with two significant digits, or all before the point.
func digits(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// TestFigures: README's table is what the commands have printed into docs/measurements, and the commit that it names is
// theirs. With -write the table is made of that anew.
func TestFigures(t *testing.T) {
	const begin, end = "<!-- go test ./test/readme -run TestFigures -write -->\n", "<!-- end -->\n"
	if len(shown) > 12 {
		t.Errorf("README has %d figures: at most 12", len(shown))
	}
	page := read(t, "README.md")
	before, rest, ok := strings.Cut(page, begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no table between %q and %q", begin, end)
	}
	want, commit := table(t)
	if *write {
		before = commitName.ReplaceAllString(before, commit)
		if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !strings.Contains(before, commit) {
		t.Errorf("README.md does not say before its table that the figures are those of %s", commit)
	}
	if old != want {
		t.Errorf("README.md has\n%s\nand docs/measurements\n%s\nrun go test ./test/readme -run TestFigures -write", old, want)
	}
}

// TestLength: what stands at the door is read to its end.
func TestLength(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 120 {
		t.Errorf("README.md has %d lines, at most 120 are read", n)
	}
}
