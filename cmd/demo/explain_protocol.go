package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/protocols"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
)

type explainProtocolCommand struct {
	Driver  string `help:"Network to explain: ${drivers}, or several with commas: a rail each. Default: what PM2_DRIVER says, or shm."`
	Measure bool   `help:"Measure first from which size on the rendezvous is faster, and what each rail costs."`
	Save    file   `help:"Write what was measured into this file, for PM2_PROFILE."`
	width
}

// Help is the long text of --help.
func (*explainProtocolCommand) Help() string {
	return "Prints a table: which sizes of messages take which protocol over which rail, and why: it is the " +
		"default, the environment says so (PM2_EAGER, PM2_STRATEGY), or it was measured (PM2_PROFILE). Then it prints the rails, " +
		"and what each of them carries of a long message. For that it links two sessions in this " +
		"process by the real network. With --measure it links two processes: it starts the second one on this host, or they are the processes of a " +
		"job of two, such as demo run -n 2 --hosts FILE -- demo explain-protocol --measure.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

func (c *explainProtocolCommand) run(ctx context.Context) error {
	var text strings.Builder
	if err := protocols.Explain(ctx, protocols.Options{Driver: c.Driver, Measure: c.Measure, Save: string(c.Save)}, &text); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString(c.fit(text.String())); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// usual is the network that is explained by default: in a job, that of the job.
func (c *explainProtocolCommand) usual() string {
	if c.Measure && os.Getenv(nmad.EnvSize) != "" {
		return nmad.DefaultDriver
	}
	return "shm"
}

// Validate implements kong's check after parsing.
func (c *explainProtocolCommand) Validate() error {
	from := "--driver"
	if c.Driver == "" {
		from, c.Driver = nmad.EnvDriver, cmp.Or(os.Getenv(nmad.EnvDriver), c.usual())
	}
	if _, err := driver.LookupAll(c.Driver); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if c.Save != "" && !c.Measure {
		return fmt.Errorf("--save %s: there is nothing to save without --measure", c.Save)
	}
	if c.Save != "" {
		return c.Save.check("--save")
	}
	return nil
}
