//go:build !linux

package bootstrap

import "net"

func (c *Control) userTimeout(*net.TCPConn) {} // keep-alive alone notices a lost host, unless something was being sent
