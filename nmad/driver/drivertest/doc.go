// Package drivertest is the conformance suite of nmad's drivers: what [driver.Link] promises, checked over any driver,
// between two endpoints of one process and between two processes. It is there for tests, and for authors of drivers.
//
//	func TestConformance(t *testing.T) { drivertest.Run(t, Driver{}) } // in the package of the Driver
//	func BenchmarkLink(b *testing.B)   { drivertest.Bench(b, Driver{}) }
//
// A case is a pair of scripts, left and right, which run at the same time, one at each end of a fresh link. The second
// process is the test binary started once more with an environment variable that says which script to run; it ends when
// its standard input does, so that none outlives the test.
//
// No case fails because something was slow: what waits, waits for up to [Patience], after which something is lost
// rather than late. The exception is the death of a peer, which must be noticed within [Notice].
package drivertest
