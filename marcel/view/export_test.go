package view

// Idle says that nothing was asked for.
func (o *Observation) Idle() bool { return o.server == nil && o.path == "" }
