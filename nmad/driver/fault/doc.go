// Package fault is a driver around any other driver. It keeps a record of the packets and bytes that pass, and does to
// them, by a plan that can be repeated, what networks, kernels and schedulers do once in a million times. It interposes
// as the hook providers of libfabric and LD_PRELOAD libraries for MPI do: the layers above and below notice nothing. It
// is there for tests.
//
//	nmad ── Link ──▶ fault ── Link ──▶ shm, tcp, unix...
//	                 │ record: a ring of the last packets
//	                 └ plan:   seed, and what goes wrong how often, or where
//
// # Use
//
// As a driver by name, with the plan in the environment, in a program that imports this package, as the laboratory
// does:
//
//	import _ "github.com/pm2-go/pm2/nmad/driver/fault"
//
//	PM2_FAULTS='seed=7 refuse=0.2 short=0.5' demo pingpong --driver fault:tcp
//
// or in a program, as nmad.Config.Custom:
//
//	fault.Driver{Inner: tcp.Driver{}, Plan: fault.Plan{Seed: 7, Refuse: 0.2}}
//
// # The plan
//
// Words of the form name=value, separated by spaces or commas; [Plan] explains each:
//
//	seed=7           the same seed gives each link and direction the same dice
//	rank=1 peer=0    only in that process, only on links to that one
//	refuse=0.2       that share of sends and pushes finds no room
//	short=0.5        that share of pushes and pulls moves a part only
//	delay=0.01:2ms   that share of polls begins a silence: nothing arrives for so long
//	stall=0.01:1ms   that share of calls does its work and then takes so long to return
//	cut=push:100000  the connection is lost after so many bytes (push, pull) or
//	                 packets (send, recv)
//	flip=seq:40      a bit is wrong in that field of the header of the 40th packet received
//	ring=1000        how many packets the record keeps per link
//	trace=NAME       when the link is closed the record goes to NAME.RANK-PEER.txt
//
// # What a link with faults keeps to
//
// All promises of [driver.Link] but that of an unbroken connection (cut), of headers as they were sent (flip) and of
// never blocking (stall): the conformance suite runs over it. Above all no sleeper is forgotten. A sender that was
// refused here, and not below, is told by Arm that there is room, since the link below will not wake it; and what is
// there, in a silence, Arm sees below.
//
// A cut breaks the link here. The other side learns of it when this side closes the link, which the layer above does at
// once.
package fault
