package rma

// learn asks the target for the size of the memory that a Ref names, and for the way to it, at the first use of the
// memory by this process, and enters the memory into the table. It waits for the answer.
func (d *Domain) learn(try attempt) (*region, error) {
	w, p := d.w, &d.peers[try.at.rank]
	p.learning.Lock()
	defer p.learning.Unlock()
	if r := p.find(try.at.index); r != nil && r.key == try.at.key {
		return r, nil
	}
	o, err := d.begin(attempt{try.what, Ref{try.at.key, 0, try.at.rank, try.at.index}, 0}, askLearn)
	if err != nil {
		return nil, err
	}
	a, err := o.wait(nil, nil)
	if err != nil {
		return nil, err
	}
	r := &region{size: a.size, key: try.at.key}
	if live := p.page.live(try.at.index); live != nil && try.at.index&1 == 1 && a.way != wayMessages {
		r.live = live
		switch {
		case a.way == wayMapped && a.locator.Size == a.size && a.locator.PID == p.pid:
			if r.mem, r.mapErr = a.locator.Open("memory", true); r.mapErr == nil {
				r.base = baseOf(r.mem.Bytes())
			}
		case a.way == wayKernel && w.kernelCopies(p, a.page):
			r.address = a.at
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed.Load() {
		_ = r.mem.Vacate()
		return nil, try.fails(ErrClosed)
	}
	w.sweep(p)
	if try.at.index < 2*MaxRegions {
		w.forget(p, try.at.index)
		p.set(try.at.index, r)
		if r.mem != nil {
			w.used.mapped += r.size
		}
	}
	return r, nil
}

// sweep unmaps memory of a process that its owner has closed. The caller holds mu.
func (w *World) sweep(p *peer) {
	if t := p.table.Load(); t != nil {
		for i := range *t {
			if r := (*t)[i].Load(); r != nil && r.stale() {
				w.forget(p, uint32(i))
			}
		}
	}
}

// forget takes memory of another process out of its table, and unmaps it. The caller holds mu.
func (w *World) forget(p *peer, index uint32) {
	r := p.find(index)
	if r == nil {
		return
	}
	p.set(index, nil)
	if r.mem != nil {
		_ = r.mem.Vacate()
		w.used.mapped -= r.size
	}
}
