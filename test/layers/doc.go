// Package layers keeps the rooms of the module apart.
//
// Imports point downwards only:
//
//	cmd  test                      everything; no room imports them
//	nmad                           pioman, marcel, tasklet, sched/topo, asm
//	pioman                         hooks, sched, asm; marcel in thread*.go
//	marcel      tasklet            sched, hooks, asm (each)
//	sched                          hooks, internal/kernel, asm
//	sched/topo  hooks              internal/kernel, asm   nothing
//	asm  internal/kernel           nothing of ours
//	internal/serial                asm; for tasklet and pioman
//	internal/test                  pioman, marcel, sched, hooks; for tests
//	nmad/internal/test             nmad/driver, nmad/internal/meet; for tests
//
// The table in rules.go says it exactly, and also which modules of other people each room may use: what only the
// laboratory needs stays under cmd, what only tests need stays in tests. Test files may import any room below cmd and
// test. What is there for tests only tests import, and nmad/driver/drivertest, which authors of drivers import, too.
//
// [Check] reads the sources of a tree, whatever their build constraints, and
// returns every breach: a forbidden import, a file longer than [MaxLines]
// lines, a package without doc.go or whose doc.go has no package comment, code
// in a folder that the table does not know, an init function that it does not list, a word that only
// one room may say. The package's test runs it over
// this repository, and over small trees that break each rule once.
//
// [Unwatched] finds where the race detector sees what functions marked go:norace were to hide from it, and [Names] what
// comments, pages, models and headers name that is not there. [States] and [ListsKinds] compare the numbers of pages
// with constants.
package layers
