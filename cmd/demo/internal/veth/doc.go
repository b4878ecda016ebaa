// Package veth puts two processes on two hosts with a shaped link between them. The hosts are network namespaces of
// this machine; the link is a pair of virtual Ethernet devices, whose rate the kernel's token bucket filter limits in
// both directions.
//
//	demo experiment E18            parent: Enter starts the same command line again ...
//	   └ demo experiment E18       ... in a network namespace of its own: host 0
//	        │ New: a second namespace, veth0 in either, tbf on both
//	        └ nsenter demo ...     rank 1, on host 1
//
// Neither namespace has a name: they and the devices are gone with the processes that are in them, however those end.
// Without privilege it takes a user namespace, if the kernel allows one.
package veth
