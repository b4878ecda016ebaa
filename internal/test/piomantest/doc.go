// Package piomantest is the conformance suite of the progress engine's callers: what an engine promises must hold for
// each kind of caller (threads of marcel, goroutines, goroutines that are locked to their OS threads), and whatever
// makes the progress (a scheduler's hooks, the progressor of a program without one, the callers alone). It is there for
// tests.
//
//	piomantest.Run(t, piomantest.World{
//		Name:  "mine",
//		Start: func(e *pioman.Engine) (piomantest.Host, error) { ... },
//		Spawn: map[string]func(func()){"goroutine": func(f func()) { go f() }},
//	})
//
// Nothing in it depends on how fast anything is, nor on an interleaving: it counts, and what must happen has two
// minutes to do so. Under -short it runs some hundreds of iterations of each test, else some thousands. It uses the
// exported face of the engine only.
package piomantest
