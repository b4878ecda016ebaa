// Package am has active messages, and remote procedure calls on top: a message names a handler that runs at the
// target as soon as a thread polls there, so the target posts no receive and waits for nothing.
//
//	func main() {
//		s, err := nmad.Open(context.Background(), nmad.Config{Size: 1}) // or nmad.Join, of a job
//		w, err2 := am.Open(s, am.Config{})
//		if err := errors.Join(err, err2); err != nil {
//			panic(err)
//		}
//		err = w.Handle(1, func(t *am.Token, args []uint64, body []byte) { _ = t.Reply([]uint64{args[0] + 1}, body) })
//		var r am.Reply
//		err2 = w.Default().RequestFor(&r, 0, 1, []uint64{41}, []byte("hello"))
//		args, body, err3 := r.Wait()
//		fmt.Println(args, string(body), errors.Join(err, err2, err3, w.Close(), s.Close()))
//	}
//
// An active message is a message of nmad, with a tag that says what it is (wire.go), in contexts of the package's
// own. Before its first request to a peer a domain sends a greeting; then both sides post receives for the gate between
// them, and the callbacks of these receives run the handlers. So any thread that polls the gate runs handlers: one that
// waits, or calls Domain.Poll, or, with pioman.Enable, a hook or the progressor, while all threads compute.
//
//	requester                                          target
//	Request: room? number it, copy it --- message ---> callback: in the order of the numbers, the handler
//	Reply.Wait, or a handler of its own <-- answer --- Token.Reply, ReplyTo: credit goes with it
//	room again                      <---- credit ----- else with the next message, or, from half a Window on, by itself
//
//	RequestLong: the body is put (nmad/rma), or goes as a message ---> into registered memory; then, in its turn, the handler
//
// # Guarantees
//
//   - Requests of a domain to a domain of another process are handled once each, in their order, whatever their
//     lengths. Between domains, and for replies, there is no order.
//   - Handlers for messages of one peer's domain run one at a time; those of several may run at once.
//   - A handler must not wait. It may Reply once, to the requester, and call TryRequest; calls of this package that
//     would have to wait fail with ErrInHandler. Waits of marcel, of channels, and of package sync do not notice, and
//     are mistakes all the same.
//   - Room for a reply is reserved with its request (Config.Window), so processes that flood each other never block
//     each other: a request without room runs handlers while it waits.
//   - The body of a long request, or reply, lies in memory that the receiver has registered with package rma
//     (Config.Memory): all of it, before the handler runs. Further errors are those of rma.
//   - Requests and replies allocate nothing in steady state. What a peer sends is bounded and checked; a peer that
//     sends malformed messages fails (ErrMessage).
//   - A message to the own process that is too long to go eagerly moves while a thread polls, or waits for a reply or
//     a call; the engine alone does not move it.
//   - When a process dies, or the gate of the default domains to it ends, requests to it, in all domains, replies
//     awaited from it and calls of it fail with nmad.PeerError.
//
// # Domains
//
// World.Domain opens a queue of its own. Those that are Shared or Serialized are moved by the engine, too, and by
// threads that poll other domains, as often as Config.Mask says. A Private one is moved by its owner's calls alone;
// its requests go to the default domain of the target, so that no request waits for a thread that does something
// else, unless RequestTo asks for that. Every domain reaches every handler.
//
// # Calls
//
// World.Serve names a function, Call runs it elsewhere, in a thread of marcel of its own, which may wait. Its context
// ends when the caller's does.
//
// docs/am.md says when to use what.
package am
