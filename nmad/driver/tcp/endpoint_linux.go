package tcp

import (
	"cmp"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/driver/internal/numa"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
)

// Open implements driver.Driver. Config.Listen is "host:port"; empty, or a name that is meant for another driver
// ("@..."): any free port of 127.0.0.1. An endpoint's address is "host:port".
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	return d.network().Open(c)
}

func (d Driver) network() stream.Network {
	return stream.Network{
		Name: Name, Hint: "is its process running, and is this its address?",
		MaxBody: cmp.Or(d.body, standardBody), WakeBytes: stream.DefaultWakeBytes, Listen: listener.TCP, Check: listener.CheckTCP,
		Take:     func(c stream.Conn) (int, error) { return takeSocket(c, d.sndbuf) },
		Locality: func(c stream.Conn) driver.Locality { return numa.Through(c.LocalAddr()) },
	}
}
