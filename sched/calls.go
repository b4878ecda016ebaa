package sched

import "github.com/pm2-go/pm2/internal/ours"

// moduleCalls are the functions that packages marcel and pioman need and programs do not. Most of them marcel gives out
// to programs under the same names: their documentation is there.
type moduleCalls struct{}

// Calls is not for programs: it returns the functions by which package marcel has threads do what programs ask of it,
// and by which package pioman knows of goroutines that poll. Programs call marcel's: only packages of this module can
// make the argument.
func Calls(ours.Module) moduleCalls { return moduleCalls{} }
