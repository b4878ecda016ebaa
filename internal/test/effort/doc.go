// Package effort says how much a test does of what seldom finds anything:
//
//	for range effort.Of(2000) {
//		...
//	}
//
//	go test -short ./...             a twentieth: 100 rounds
//	go test ./...                    a tenth: 200 rounds
//	go test ./sched ./pioman -long   all 2000; with -half besides 1000
//
// [Choose] is for tests whose shares are others. Under the race detector Of does half as much. A test binary that
// imports the package has the flags -long and -half; continuous integration gives both to all of these in a step of its
// own.
package effort
