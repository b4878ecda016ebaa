// Package fault is a driver around any other driver. It keeps a record of the packets
// and bytes that pass, and does to them, by a plan that can be repeated, what networks,
// kernels and schedulers do once in a million times. It interposes as the
// hook providers of libfabric and LD_PRELOAD libraries for MPI do: the layers
// above and below notice nothing.
//
//	nmad ── Link ──▶ fault ── Link ──▶ shm, tcp, unix...
//	                 │ record: a ring of the last packets
//	                 └ plan:   seed, and what goes wrong how often, or where
//
// # Use
//
// As a driver by name, with the plan in the environment:
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
// # What it keeps to
//
// A link with faults keeps all promises of [driver.Link] but that of an unbroken connection
// (cut), of headers as they were sent (flip) and of never blocking (stall): the
// conformance suite runs over it. Above all no sleeper is forgotten. Whoever was refused here, and not
// below, is told by Arm that there is room, since nobody below would wake him; and
// what is there, in a silence, Arm sees below.
//
// A cut breaks the link here. The other side learns of it when this side closes
// the link, which the layer above does at once.
//
// # The proxy
//
// A [Proxy] alters not what a link is asked to do but the bytes on the way, as a hostile or broken network does. It stands
// between two real endpoints, with sockets of its own: an endpoint tells the proxy's address in place of its own, the
// peer dials that, and the proxy dials on. The drivers and nmad run unchanged. A job's control connection goes through
// one by the address of the rendezvous.
//
//	  dialler                   Proxy                  listener
//	nmad ─ tcp ── up ────▶ tracker ─▶ editor ─────▶ tcp ─ nmad
//	       unix             hello│header│  flip drop    unix
//	       shm  ◀─────────  proof│body...  swap ... ◀── shm
//	             down            │                    │
//	                             └──▶ log: what, where, when
//
//	fault.Behind{Inner: tcp.Driver{}, Tell: fault.Through(plan, nil)}      a driver whose endpoints are behind proxies
//	fault.NewProxy(fault.ProxyConfig{Target: addr, Control: true, ...})    a proxy by itself
//
// Over shared memory only the socket by which two processes meet goes through it; it hands on the descriptors that come
// along, and can overwrite the memory that they stand for.
//
// Its plan has words as above: seed, and with the same dice
//
//	short=0.2              that share of blocks of up to 64 KiB goes on in two pieces
//	delay=0.01:2ms         before that share of blocks nothing goes on for so long
//
// Edits alter what one side sends: up is what the dialler sends, down what the listener does. Their places count
// what was sent, from 1 on, whatever became of it: up:1000 is a byte, up:#3+9 the 9th byte of the third packet (or frame,
// after the proofs). Behind that is a number of bytes, 1 to 4096.
//
//	flip=up:1000:4         in each of these bytes a bit is wrong
//	drop=up:#3+9:16        these bytes are missing
//	repeat=down:1000:64    the 64 bytes before that place come twice
//	swap=up:1000:64        these bytes and the 64 behind them change places
//	invent=down:#2+1:64    64 bytes come before that place that were never sent: any, or such as look like packets or frames
//	cut=up:1000            before that byte both directions are torn
//	end=up:1000            before that byte this direction ends, in order
//	wait=up:1000:20ms      before that byte nothing goes on for so long
//
// and for whole connections
//
//	connection=2           the edits are for the second connection that was dialled only
//	quiet=300ms            an edited connection on which nothing comes for so long is cut: a wait for lost bytes has no other end
//	last=1s                each connection is cut after so long
//	strangers=3            three connections of the proxy's own to the listener, with invented bytes on them
//	play=2                 the second connection goes nowhere: the proxy answers, with invented bytes
//	rights=lose            descriptors do not come along; double: twice; other: in the place of the first comes a pipe
//	scribble=20:1ms        each ms 20 words of a link's shared memory are overwritten, by such as are nearly right
//
// The same seed, plan and bytes give the same edits, in however many blocks the bytes come. [Proxy.Log] tells what was
// altered, how many bytes of it lay where, and whether the proof of the secret had gone by: "hello", "proof",
// "header tag of kind 2" (kinds of packets are those of the layer above), "body of kind 1", "large"; over shm "frame"; on a control
// connection "greeting", "claim", "verdict", "control head", "control frame".
package fault
