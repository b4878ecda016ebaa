package nmad

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
)

// linker makes the links of a process, one to each other process per rail. Of each rail
// it dials every lower rank and accepts every higher one, both at once, so that no
// order among the processes can make them wait for each other in a circle; the rails come
// one after the other, in the same order everywhere.
type linker struct {
	own   int
	size  int
	ends  []driver.Endpoint // by rail
	names []string          // likewise
	links [][]driver.Link   // by rail and rank; what is left in it at the end is closed
}

// open opens the drivers.
func (l *linker) open(cfg *Config) error {
	for i, d := range cfg.networks {
		end, err := d.Open(cfg.driverConfig(i))
		if err != nil {
			return fmt.Errorf("open the driver %s: %w", d.Name(), err)
		}
		l.ends = append(l.ends, end)
		l.names = append(l.names, d.Name())
		l.links = append(l.links, make([]driver.Link, l.size))
	}
	return nil
}

// cards is what the others have to know in order to dial.
func (l *linker) cards() []bootstrap.Rail {
	rails := make([]bootstrap.Rail, len(l.ends))
	for i, end := range l.ends {
		rails[i] = bootstrap.Rail{Driver: l.names[i], Addr: end.Addr()}
	}
	return rails
}

// take hands the links to a rank over.
func (l *linker) take(rank int) []driver.Link {
	links := make([]driver.Link, len(l.links))
	for i := range l.links {
		links[i], l.links[i][rank] = l.links[i][rank], nil
	}
	return links
}

// run fails when ctx ends, or when job ends, whose cause then is the reason.
func (l *linker) run(ctx, job context.Context, cards []bootstrap.Card) error {
	for i := range l.ends {
		if err := l.runRail(ctx, job, i, cards); err != nil {
			l.closeLinks()
			return err
		}
	}
	return nil
}

// runRail makes the links of one rail.
func (l *linker) runRail(ctx, job context.Context, rail int, cards []bootstrap.Card) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(job, func() { cancel(context.Cause(job)) })()

	accepted := make([]driver.Link, l.size)
	over := make(chan error, 1)
	go func() {
		err := l.accept(ctx, rail, accepted)
		if err != nil {
			cancel(err)
		}
		over <- err
	}()
	err := l.dial(ctx, rail, cards)
	if err != nil {
		cancel(err)
	}
	err2 := <-over
	for rank, link := range accepted {
		if link != nil {
			l.links[rail][rank] = link
		}
	}
	if err == nil {
		err = err2
	}
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%v)", cause, err)
	}
	return err
}

func (l *linker) dial(ctx context.Context, rail int, cards []bootstrap.Card) error {
	for rank := range l.own {
		addr := cards[rank].Rails[rail].Addr
		link, err := l.ends[rail].Dial(ctx, rank, addr)
		if err != nil {
			return fmt.Errorf("link to rank %d at %s: %w", rank, addr, err)
		}
		l.links[rail][rank] = link
	}
	return nil
}

func (l *linker) accept(ctx context.Context, rail int, links []driver.Link) error {
	for range l.size - 1 - l.own {
		rank, link, err := l.ends[rail].Accept(ctx)
		if err != nil {
			return fmt.Errorf("accept links: %w", err)
		}
		if rank <= l.own || rank >= l.size || links[rank] != nil {
			link.Close()
			return fmt.Errorf("accept links: %w: a link from rank %d, which is not expected", ErrProtocol, rank)
		}
		links[rank] = link
	}
	return nil
}

func (l *linker) closeLinks() {
	for _, links := range l.links {
		for rank, link := range links {
			if link != nil {
				link.Close()
				links[rank] = nil
			}
		}
	}
}

// closeEnds stops accepting.
func (l *linker) closeEnds() {
	for _, end := range l.ends {
		end.Close()
	}
}
