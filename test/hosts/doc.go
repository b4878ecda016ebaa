// Package hosts tests jobs that span several hosts. The hosts are network name spaces of this machine with a pair of
// virtual Ethernet devices between them, so that nothing reaches the other one but by its address; the remote shell is
// a script that enters the other name space. Making them takes privileges: where that is forbidden the tests say so and
// are skipped.
package hosts
