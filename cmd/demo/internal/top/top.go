package top

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// barWidth is how many characters a load of 100 % takes: as many as a line of report.Columns has room for.
const barWidth = 7

// Write writes what happened since before, in one piece. Title says whose it is.
func Write(w io.Writer, title string, now, before sched.Stats) error {
	var b strings.Builder
	d := now.Since(before)
	fmt.Fprintf(&b, "%s, up %v, %d LWPs, the last %v\n", title, now.Elapsed.Round(100*time.Millisecond), now.LWPs, d.Elapsed.Round(time.Millisecond))
	if len(now.VPs) == 0 || d.Elapsed <= 0 {
		b.WriteString("no scheduler runs\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	running := 0
	for i := range now.VPs {
		if now.VPs[i].State == "running" {
			running++
		}
	}
	t := &now.Total
	rest := max(now.Alive-running-t.Ready-t.Away-t.Seized, 0)
	fmt.Fprintf(&b, "threads: %d alive: %d running, %d ready, %d waiting, %d in Blocking, %d seized; %d idle runners\n\n",
		now.Alive, running, t.Ready, rest, t.Away, t.Seized, t.Runners)
	fmt.Fprintf(&b, "%3s %4s  %-*s %5s %5s %5s %6s %8s %8s %7s %7s %5s  %s\n", "VP", "CPU", barWidth, "load", "%",
		"spin%", "hook%", "sleep%", "switch/s", "stolen/s", "ended/s", "parks/s", "ready", "wakes p50, p99")
	for i := range d.VPs {
		row(&b, fmt.Sprint(d.VPs[i].VP), fmt.Sprint(d.VPs[i].CPU), &d.VPs[i], d.Elapsed, 1)
	}
	if len(d.VPs) > 1 {
		row(&b, "all", "", &d.Total, d.Elapsed, len(d.VPs))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteThreads writes the first most threads of a snapshot, and how many there are besides.
func WriteThreads(w io.Writer, now sched.Stats, most int) error {
	shown := now.Threads[:min(len(now.Threads), most)]
	var b strings.Builder
	b.WriteByte('\n')
	_ = observe.WriteThreads(&b, shown) // into memory
	if more := now.Alive - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func row(b *strings.Builder, vp, cpu string, v *sched.VPStats, elapsed time.Duration, vps int) {
	share := func(d time.Duration) float64 {
		return min(100*d.Seconds()/(elapsed.Seconds()*float64(vps)), 100)
	}
	rate := func(n uint64) string { return amount(float64(n) / elapsed.Seconds()) }
	load := max(100-share(v.Idle()), 0)
	full := int(load*barWidth/100 + 0.5)
	wakes := "-"
	if v.Wakes.Count() > 0 {
		wakes = fmt.Sprintf("<%v, <%v", short(v.Wakes.Quantile(0.5)), short(v.Wakes.Quantile(0.99)))
	}
	line := fmt.Sprintf("%3s %4s  %s%s %5.1f %5.1f %5.1f %6.1f %8s %8s %7s %7s %5d  %s",
		vp, cpu, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), load, share(v.Spin), share(v.Hook), share(v.Sleep),
		rate(v.Switches), rate(v.Items), rate(v.Ended), rate(v.Parks), v.Ready, wakes)
	b.WriteString(line + "\n")
}

// amount writes a number of up to six characters.
func amount(x float64) string {
	switch {
	case x >= 1e7:
		return fmt.Sprintf("%.0fM", x/1e6)
	case x >= 1e6:
		return fmt.Sprintf("%.2fM", x/1e6)
	case x >= 1e4:
		return fmt.Sprintf("%.0fk", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}

// short rounds a power of two of nanoseconds to what a person reads.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
