package pio_test

import (
	"context"
	"net"

	pio "github.com/pm2-go/pm2/pioman/io"
)

// dialHTTP is what an http.Transport dials by.
func dialHTTP(ctx context.Context, network, address string) (net.Conn, error) {
	return pio.DialContext(ctx, network, address)
}
