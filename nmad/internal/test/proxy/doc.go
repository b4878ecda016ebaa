// Package proxy is there for tests. A [Proxy] alters not what a link is asked to do, as package fault does, but the
// bytes on the way, as a hostile or broken network does. It stands between two real endpoints, with sockets of its own:
// an endpoint tells the proxy's address in place of its own, the peer dials that, and the proxy dials on. The drivers
// and nmad run unchanged. A job's control connection goes through one by the address of the rendezvous.
//
//	proxy.Behind{Inner: tcp.Driver{}, Tell: proxy.Through(plan, nil)}      a driver whose endpoints are behind proxies
//	proxy.New(proxy.Config{Target: addr, Plan: plan})                      a proxy by itself
//
// README.md, beside the code, has the words of its [Plan].
package proxy
