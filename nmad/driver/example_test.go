package driver_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	_ "github.com/pm2-go/pm2/nmad/driver/tcp"
)

var (
	ctx    = context.Background()
	secret = make([]byte, 32)
)

func Example() {
	d, err := driver.Lookup("tcp") // registered by import _ ".../nmad/driver/tcp"
	if err != nil {
		panic(err)
	}
	end, _ := d.Open(driver.Config{Rank: 0, Size: 2, Job: "example", Secret: secret})
	peer, _ := d.Open(driver.Config{Rank: 1, Size: 2, Job: "example", Secret: secret})
	go func() { _, _, _ = peer.Accept(ctx) }()
	link, err := end.Dial(ctx, 1, peer.Addr())
	if err != nil {
		panic(err)
	}
	sent, err := link.Send(&driver.Header{Body: 5}, []byte("hello"), nil, false) // never blocks; if sent is false, try again
	fmt.Println(sent, err, link.Close())
	// Output: true <nil> <nil>
}
