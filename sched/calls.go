package sched

import "github.com/pm2-go/pm2/internal/ours"

// calls are the functions that package marcel needs and no other package does. Most of them it gives out to programs under the
// same names: their documentation is there.
type calls struct{}

// Calls returns the functions by which package marcel has threads do what programs ask of it. Programs call marcel's: only packages
// of this module can make the argument.
func Calls(ours.Module) calls { return calls{} }
