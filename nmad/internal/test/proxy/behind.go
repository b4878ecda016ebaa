package proxy

import "github.com/pm2-go/pm2/nmad/driver"

// Behind is a driver whose endpoints tell another address than their own: that of a proxy. All else is the inner
// driver's, its links and its name included.
type Behind struct {
	Inner driver.Driver

	// Tell is given the address of an endpoint that was opened, and says which one the others are to hear, and what
	// is to be called once the endpoint is closed; nil: nothing is. Its error is that of Open.
	Tell func(c driver.Config, addr string) (told string, closed func() error, err error)
}

// Through gives the Tell that puts a proxy with that plan before each endpoint, in its process; made, unless nil,
// is shown each one, and may have it closed later. A proxy accepts no more once its endpoint is closed.
func Through(plan Plan, made func(own int, p *Proxy)) func(driver.Config, string) (string, func() error, error) {
	return func(c driver.Config, addr string) (string, func() error, error) {
		p, err := New(Config{Target: addr, Plan: plan})
		if err != nil {
			return "", nil, err
		}
		if made != nil {
			made(c.Rank, p)
		}
		return p.Addr(), p.Shut, nil
	}
}

// Name implements driver.Driver.
func (b Behind) Name() string { return b.Inner.Name() }

// Open implements driver.Driver.
func (b Behind) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := b.Inner.Open(c)
	if err != nil {
		return nil, err
	}
	h := &hidden{Endpoint: e}
	if h.told, h.closed, err = b.Tell(c, e.Addr()); err != nil {
		_ = e.Close()
		return nil, err
	}
	return h, nil
}

// hidden is an endpoint behind a proxy.
type hidden struct {
	driver.Endpoint
	told   string
	closed func() error
}

// Addr implements driver.Endpoint.
func (h *hidden) Addr() string { return h.told }

// Close implements driver.Endpoint.
func (h *hidden) Close() error {
	err := h.Endpoint.Close()
	if h.closed != nil {
		if cerr := h.closed(); err == nil {
			err = cerr
		}
	}
	return err
}
