// Package match pairs messages with receives: by tag, in the order in which both came. It knows
// neither lock, clock nor network; the lock of what it is part of is around every call.
//
//	message comes --- Arrive ---> the receive that it is for: the one that was posted first among those
//	                              with exactly this tag, with a mask, and for any gate
//	                 none: Keep --> unexpected; probes that are for it end
//	receive comes --- Take -----> the oldest unexpected message that it is for
//	                 none: Post, PostWild --> waits
//
// Exact receives and unexpected messages stand in tables (table.go), in which finding, adding and
// taking cost one hash, whatever the lengths of the queues. Receives with a mask, and probes, stand in a list
// in the order in which they were posted, for which each message pays a walk. So do those for a message from any gate,
// in a list that the gates share (any.go).
package match
