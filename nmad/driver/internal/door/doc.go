// Package door receives strangers: it accepts connections, lets the driver
// find out in a goroutine of its own who each one is, so that one who says
// nothing keeps nobody else waiting, and hands the links that come of it to
// Accept. Those turned away are remembered, to be mentioned when Accept gives up.
package door
