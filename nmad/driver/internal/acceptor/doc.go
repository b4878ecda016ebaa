// Package acceptor receives processes that are not known yet: it accepts connections, lets the driver
// find out in a goroutine of its own which rank each one is, so that one that says
// nothing keeps no other one waiting, and hands the links that come of it to
// Accept. It remembers how many it has refused, and why the last one, for the error of Accept.
package acceptor
