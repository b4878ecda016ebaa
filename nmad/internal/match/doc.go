// Package match pairs messages with receives, by tag, in the order in which both came. It knows no lock, no clock and
// no network: its caller, a gate, holds a lock around every call of a Matcher.
//
//	a message comes:  Arrive, ArriveAny --> the receive that gets it: the one that was posted first among those with exactly
//	                                        this tag, those with a mask, and those for any gate
//	                  no receive: Keep  --> the message is unexpected; probes that match it end
//	a receive comes:  Take              --> the oldest unexpected message that it matches
//	                  no message: Post, PostWild --> the receive waits
//
// Exact receives and unexpected messages are in tables (table.go): to find, add or take one costs one hash, however
// long the queues are. Receives with a mask, and probes, are in a list in the order in which they were posted, and each
// message pays for a walk along it. Receives and probes for a message from any gate are in such a list, too, which
// several gates share (anylist.go).
package match
