package protocols

import (
	"context"
	"errors"
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

// Explain prints which messages take which protocol over a driver, as this machine, the
// environment and, if asked to, a measurement have it.
func Explain(ctx context.Context, o Options, w io.Writer) error {
	base, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	if base.Listener != nil {
		_ = base.Listener.Close() // of a job that this one is not
	}
	base.Driver = o.Driver
	if o.Measure {
		profile, err := measure(ctx, base)
		if err != nil {
			return err
		}
		printPoints(w, profile)
		if base.Profile = o.Save; o.Save == "" {
			base.Measured = profile
		} else if err := profile.Save(o.Save); err != nil {
			return err
		}
	}
	p, err := open(ctx, base)
	if err != nil {
		return err
	}
	defer p.close()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "to\tsizes\tprotocol\trail\twhy")
	for rank, whom := range []string{"own rank", "other rank"} {
		for _, r := range p.sessions[0].Gate(rank).Protocols() {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", whom, sizes(r.From, r.To), r.Name, r.Rail, r.Why)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printRails(w, p.sessions[0].Gate(1))
}

// printRails tells what each rail carries of a long message, and what that comes from.
func printRails(w io.Writer, g *nmad.Gate) error {
	fmt.Fprintf(w, "\na message of %s under the strategy %s:\n", size.Format(nmad.ShareOf), g.Strategy())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "rail\tshare\tlatency, us\tbandwidth, GB/s\twhy")
	rails := g.Rails()
	best := 0
	for i, r := range rails {
		fmt.Fprintf(t, "%s\t%.0f %%\t%.1f\t%.3f\t%s\n", r.Name, 100*r.Share, float64(r.Latency)/1e3, r.Bandwidth, r.Why)
		if r.Latency < rails[best].Latency {
			best = i
		}
	}
	for _, r := range rails {
		if r.Network != "" {
			fmt.Fprintf(t, "%s has chosen %s, as %s\n", r.Name, r.Network, r.Choice)
		}
	}
	if best != 0 {
		fmt.Fprintf(t, "short messages go over %s, the first rail; %s has less latency: name it first\n", rails[0].Name, rails[best].Name)
	}
	return t.Flush()
}

// measure has the rails measured between two sessions, whatever limits are set.
func measure(ctx context.Context, base nmad.Config) (*nmad.Profile, error) {
	free := nmad.Config{Driver: base.Driver, Listen: base.Listen, Shared: base.Shared}
	p, err := open(ctx, free)
	if err != nil {
		return nil, err
	}
	defer p.close()
	var profile *nmad.Profile
	var errs [2]error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.each(func(rank int) {
		g := p.sessions[rank].Gate(1 - rank)
		if rank == 0 {
			profile, errs[0] = g.Sample(ctx)
		} else {
			errs[1] = g.SampleEcho(ctx)
		}
		if errs[rank] != nil {
			cancel()
		}
	})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return profile, nil
}

// printPoints prints what was measured of the first rail: the others carry no short messages.
func printPoints(w io.Writer, p *nmad.Profile) {
	var name string
	var r nmad.Rail
	for name, r = range p.Rails {
		if len(r.Points) > 0 {
			break
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s between two sessions of this process, half a round trip, median:\n", name)
	fmt.Fprintln(t, "size\teager, us\trendezvous, us\t")
	for _, c := range r.Points {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t\n", size.Format(c.Size), float64(c.EagerNs)/1e3, float64(c.RendezvousNs)/1e3)
	}
	_ = t.Flush() // as far as w goes; Explain ends with a Flush that is looked at
	fmt.Fprintf(w, "eager is not slower up to %s\n\n", size.Format(r.Eager))
}

func sizes(from, to uint64) string {
	if to == math.MaxUint64 {
		return fmt.Sprintf("%d and more", from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}
