package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// A document is the JSON of one run of this command, as that of the demo's experiments. Times in ns: of messages one
// way, of threads per operation.
type document struct {
	Experiment string         `json:"experiment"`
	Machine    machine        `json:"machine"`
	Parameters map[string]any `json:"parameters"`
	Rows       []jsonRow      `json:"rows"`
	Skipped    []skipped      `json:"skipped"`
}

type machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Kernel string  `json:"kernel"`
	Go     string  `json:"go"`
	Probe  float64 `json:"probe_ns"`
	Commit string  `json:"commit"`
}

type jsonRow struct {
	Name     string  `json:"name"`
	Row      string  `json:"operation,omitempty"` // of threads
	Size     int     `json:"size,omitempty"`      // of messages
	Window   int     `json:"window,omitempty"`    // messages under way at once; times are per message
	Ours     float64 `json:"ours_ns"`
	OursQ1   float64 `json:"ours_q1_ns"`
	OursQ3   float64 `json:"ours_q3_ns"`
	OursMin  float64 `json:"ours_min_ns,omitempty"` // of messages
	OursP99  float64 `json:"ours_p99_ns,omitempty"`
	Peer     string  `json:"peer"`
	PeerNs   float64 `json:"peer_ns"`
	PeerQ1   float64 `json:"peer_q1_ns"`
	PeerQ3   float64 `json:"peer_q3_ns"`
	PeerMin  float64 `json:"peer_min_ns,omitempty"`
	PeerP99  float64 `json:"peer_p99_ns,omitempty"`
	Ratio    float64 `json:"ratio"`
	Better   string  `json:"better"`
	Probe    float64 `json:"probe_ns,omitempty"`
	Regime   string  `json:"regime,omitempty"`
	Pairs    int     `json:"pairs"`
	Dropped  int     `json:"pairs_dropped"`
	OneCPU   bool    `json:"one_cpu,omitempty"`
	OursName string  `json:"ours"`
}

type skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

func (c comparison) json(r row) jsonRow {
	size := r.size
	if c.operation != "" {
		size = 0
	}
	return jsonRow{
		Name: c.name, Row: c.operation, Size: size, Window: c.window, OursName: c.ours.name,
		Ours: r.ours.Median, OursQ1: r.ours.Q1, OursQ3: r.ours.Q3, OursMin: r.ours.Min, OursP99: r.ours.P99,
		Peer: c.peer.name, PeerNs: r.peer.Median, PeerQ1: r.peer.Q1, PeerQ3: r.peer.Q3, PeerMin: r.peer.Min, PeerP99: r.peer.P99,
		Ratio: r.ours.Median / r.peer.Median, Better: "lower",
		Probe: r.probe, Regime: r.regime, Pairs: r.pairs, Dropped: r.dropped, OneCPU: c.oneCPU,
	}
}

func (d document) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// writeTable prints a row per size and regime; a comparison's name stands above its rows.
func (d document) writeTable(w io.Writer) {
	fmt.Fprintf(w, "%s, %d cores, Linux %s, %s, commit %s\n", d.Machine.CPU, d.Machine.Cores, d.Machine.Kernel, d.Machine.Go, d.Machine.Commit)
	fmt.Fprintf(w, "Medians of the runs' medians [quartiles]: of messages one way, in windows per message;\nratio = ours / peer, lower is better.\n")
	name, peers := "", ""
	for _, r := range d.Rows {
		if r.Row != "" {
			if r.Name != name {
				name = r.Name
				peers, _, _ = strings.Cut(r.Peer, ", ")
				fmt.Fprintf(w, "\n%s: per operation; the peer is %s\n", name, peers)
				fmt.Fprintf(w, "%-35s %19s %19s %5s %5s  %s\n", "operation", "ours ns", "peer ns", "ratio", "cores", "peer's")
			}
			regime := r.Regime
			if r.OneCPU || regime == "" {
				regime = "-"
			}
			fmt.Fprintf(w, "%-35s %19s %19s %5.2f %5s  %s\n", r.Row,
				interval(r.OursQ1, r.Ours, r.OursQ3, 1), interval(r.PeerQ1, r.PeerNs, r.PeerQ3, 1), r.Ratio, regime, strings.TrimPrefix(r.Peer, peers+", "))
			continue
		}
		if r.Name != name {
			name = r.Name
			fmt.Fprintf(w, "\n%s: %s | %s%s\n", name, r.OursName, r.Peer, r.inWindows())
			fmt.Fprintf(w, "%6s  %20s  %20s  %5s  %9s  %5s  %s\n", "bytes", "ours us", "peer us", "ratio", "probe ns", "pairs", r.lastHead())
		}
		fmt.Fprintf(w, "%6s  %20s  %20s  %5.2f  %9s  %5d  %s\n", formatSize(r.Size),
			interval(r.OursQ1, r.Ours, r.OursQ3, 1000), interval(r.PeerQ1, r.PeerNs, r.PeerQ3, 1000), r.Ratio, r.probe(), r.Pairs, r.last())
	}
	d.writeBest(w)
	for _, s := range d.Skipped {
		fmt.Fprintf(w, "\nskipped %s: %s\n", s.Name, s.Why)
	}
}

// writeBest prints, of each one-sided operation, the ratio to the better one of its peers.
func (d document) writeBest(w io.Writer) {
	var order []string
	best := map[string]jsonRow{}
	for _, r := range d.Rows {
		if !strings.HasPrefix(r.Name, "onesided") || r.Name == "onesided-noted" || r.Name == "onesided-probe" {
			continue
		}
		b, known := best[r.Row]
		if !known {
			order = append(order, r.Row)
		}
		if !known || r.PeerNs < b.PeerNs {
			best[r.Row] = r
		}
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(w, "\nonesided, beside the better peer\n%-35s %11s %11s %5s %5s  %s\n", "operation", "ours ns", "peer ns", "ratio", "cores", "peer")
	for _, k := range order {
		r := best[k]
		fmt.Fprintf(w, "%-35s %11.1f %11.1f %5.2f %5s  %s\n", k, r.Ours, r.PeerNs, r.Ratio, r.Regime, r.Peer)
	}
}

func (r jsonRow) inWindows() string {
	if r.Window == 0 {
		return ""
	}
	return fmt.Sprintf(", %d messages under way in one direction", r.Window)
}

// The last column: of a ping-pong the 99th percentiles, of windows the bandwidths.
func (r jsonRow) lastHead() string {
	if r.Window == 0 {
		return "p99 us"
	}
	return "MB/s"
}

func (r jsonRow) last() string {
	if r.Window == 0 {
		return fmt.Sprintf("%.4g | %.4g", r.OursP99/1000, r.PeerP99/1000)
	}
	return fmt.Sprintf("%.0f | %.0f", float64(r.Size)/r.Ours*1000, float64(r.Size)/r.PeerNs*1000)
}

func (r jsonRow) probe() string {
	if r.OneCPU {
		return "-"
	}
	return fmt.Sprintf("%.0f %s", r.Probe, r.Regime)
}

// interval writes times in a unit of that many ns, with as many decimals as keep the median to four digits.
func interval(q1, median, q3, unit float64) string {
	digits := 3
	if unit == 1 {
		digits = 1
	}
	for v := median / unit; v >= 10 && digits > 0 && (unit != 1 || v >= 100); v /= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f [%.*f %.*f]", digits, median/unit, digits, q1/unit, digits, q3/unit)
}

// thisMachine describes where the figures come from; what cannot be found out is left empty.
func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		m.Commit = strings.TrimSpace(string(out))
	}
	return m
}
