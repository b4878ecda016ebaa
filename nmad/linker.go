package nmad

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/bootstrap"
)

// linker makes the links of a process: it dials every lower rank and accepts
// every higher one, both at once, so that no order among the processes can make
// them wait for each other in a circle.
type linker struct {
	end   driver.Endpoint
	own   int
	size  int
	links []driver.Link // by rank; what is left in it at the end is closed
}

// run fails when ctx ends, or when job ends, whose cause then is the reason.
func (l *linker) run(ctx, job context.Context, cards []bootstrap.Card) error {
	l.links = make([]driver.Link, l.size)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(job, func() { cancel(context.Cause(job)) })()

	accepted := make([]driver.Link, l.size)
	over := make(chan error, 1)
	go func() {
		err := l.accept(ctx, accepted)
		if err != nil {
			cancel(err)
		}
		over <- err
	}()
	err := l.dial(ctx, cards)
	if err != nil {
		cancel(err)
	}
	err2 := <-over
	for rank, link := range accepted {
		if link != nil {
			l.links[rank] = link
		}
	}
	if err == nil {
		err = err2
	}
	if err == nil {
		return nil
	}
	l.closeAll()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%v)", cause, err)
	}
	return err
}

func (l *linker) dial(ctx context.Context, cards []bootstrap.Card) error {
	for rank := range l.own {
		link, err := l.end.Dial(ctx, rank, cards[rank].Addr)
		if err != nil {
			return fmt.Errorf("link to rank %d at %s: %w", rank, cards[rank].Addr, err)
		}
		l.links[rank] = link
	}
	return nil
}

func (l *linker) accept(ctx context.Context, links []driver.Link) error {
	for range l.size - 1 - l.own {
		rank, link, err := l.end.Accept(ctx)
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

func (l *linker) closeAll() {
	for rank, link := range l.links {
		if link != nil {
			link.Close()
			l.links[rank] = nil
		}
	}
}
