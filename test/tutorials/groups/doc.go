// Command groups is a port of the groups and communicators of "mpitutorial.com": communicators by a color, and of a
// group.
package main
