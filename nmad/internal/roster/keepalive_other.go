//go:build !linux

package roster

import "net"

func (r *Roster) userTimeout(*net.TCPConn) {} // keep-alive alone notices a lost host, unless something was being sent
