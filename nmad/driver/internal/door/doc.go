// Package door receives strangers: it accepts connections, lets the driver
// find out in a goroutine of its own which rank each one is, so that one that says
// nothing keeps no other one waiting, and hands the links that come of it to
// Accept. Those turned away are remembered, to be mentioned when Accept gives up.
package door
