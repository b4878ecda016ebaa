package protocols

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/nmad"
)

// Options say what to explain.
type Options struct {
	Driver  string
	Measure bool   // measure the rail first
	Save    string // file for what was measured; empty: none
}

// Explain prints which messages take which protocol over a driver, as this machine, the environment and, if asked to, a
// measurement have it.
func Explain(ctx context.Context, o Options, w io.Writer) error {
	base, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	job := base.Size > 1
	if base.Listener != nil && !(o.Measure && job) {
		_ = base.Listener.Close() // of a job that this one is not
	}
	base.Driver = o.Driver
	if o.Measure {
		return measure(ctx, base, o, w)
	}
	p, err := open(ctx, base)
	if err != nil {
		return err
	}
	defer p.close()
	return printTables(w, p.sessions[0])
}

// printTables prints those of rank 0 of a session of two.
func printTables(w io.Writer, s *nmad.Session) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "to\tsizes\tprotocol\trail\twhy")
	for rank, whom := range []string{"own rank", "other rank"} {
		for _, r := range s.Gate(rank).Info().Protocols {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", whom, sizes(r.From, r.To), r.Name, r.Rail, r.Why)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range s.Gate(1).Info().Exceptions {
		fmt.Fprintf(w, "%s: %s; %s\n", x.When, x.Name, x.Why)
	}
	if err := printRails(w, s.Gate(1)); err != nil {
		return err
	}
	return printDomains(w, s)
}

// printDomains tells which domains there are, and which there can be.
func printDomains(w io.Writer, s *nmad.Session) error {
	for _, d := range s.Domains() {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "up to %d may be open (Session.Domain): the same protocols over links of their own, up to DomainConfig.Eager where that is set\n", nmad.MaxDomains)
	return err
}

// printRails tells what each rail carries of a long message, and what that comes from.
func printRails(w io.Writer, g *nmad.Gate) error {
	fmt.Fprintf(w, "\na message of %s under the strategy %s:\n", size.Format(nmad.ShareOf), g.Info().Strategy)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "rail\tshare\tlatency, us\tbandwidth, GB/s\teager up to\twhy")
	rails := g.Info().Rails
	best := 0
	for i, r := range rails {
		fmt.Fprintf(t, "%s\t%.0f %%\t%.1f\t%.3f\t%s\t%s\n", r.Name, 100*r.Share, float64(r.Latency)/1e3, r.Bandwidth, threshold(r.Eager), r.Why)
		if r.Latency < rails[best].Latency {
			best = i
		}
	}
	for _, r := range rails {
		if r.Network != "" {
			fmt.Fprintf(t, "%s has chosen %s, as %s\n", r.Name, r.Network, r.Choice)
		}
	}
	for _, r := range rails {
		if r.Locality != "" {
			fmt.Fprintf(t, "%s is polled from %s: %s\n", r.Name, processors(r.Near), r.Locality)
		}
	}
	if best != 0 {
		fmt.Fprintf(t, "short messages go over %s, the first rail; %s has less latency: name it first\n", rails[0].Name, rails[best].Name)
	}
	return t.Flush()
}

// threshold is the eager limit of a rail in words.
func threshold(eager int) string {
	if eager == 0 {
		return "not measured"
	}
	return size.Format(eager)
}

// processors puts a list of them into words.
func processors(list string) string {
	if list == "" {
		return "any processor"
	}
	return "the processors " + list
}

// printPoints prints what was measured: eagerly messages go over the first rail, by rendezvous over each.
func printPoints(w io.Writer, g *nmad.Gate, p *nmad.Profile, where string) {
	rails := g.Info().Rails
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s between %s, half a round trip, median:\n", rails[0].Name, where)
	fmt.Fprint(t, "size\teager, us")
	for i, r := range rails {
		fmt.Fprint(t, "\trendezvous")
		if i > 0 {
			fmt.Fprintf(t, " over %s", r.Name)
		}
		fmt.Fprint(t, ", us")
	}
	fmt.Fprintln(t, "\t")
	for k, c := range p.Rails[rails[0].Name].Points {
		fmt.Fprintf(t, "%s\t%.2f", size.Format(c.Size), float64(c.EagerNs)/1e3)
		for _, r := range rails {
			fmt.Fprintf(t, "\t%.2f", float64(p.Rails[r.Name].Points[k].RendezvousNs)/1e3)
		}
		fmt.Fprintln(t, "\t")
	}
	_ = t.Flush() // as far as w goes; Explain ends with a Flush that is looked at
	for i, r := range rails {
		fmt.Fprintf(w, "eager is not slower up to %s", size.Format(p.Rails[r.Name].Eager))
		if i > 0 {
			fmt.Fprintf(w, ", beside a rendezvous over %s", r.Name)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func sizes(from, to uint64) string {
	if to == math.MaxUint64 {
		return fmt.Sprintf("%d and more", from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}
