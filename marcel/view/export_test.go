package view

// Idle says that nothing was asked for.
func (o *Observed) Idle() bool { return o.server == nil && o.path == "" }
