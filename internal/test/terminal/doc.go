// Package terminal makes terminals for the tests of the commands.
package terminal
