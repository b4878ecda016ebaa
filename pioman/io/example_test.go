package pio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	pio "github.com/pm2-go/pm2/pioman/io"
)

func Example() {
	stop, err := pioman.Enable()       // idle VPs poll
	l, err2 := pio.Listen("tcp", ":0") // loopback, unless a host is given
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	answer := marcel.Spawn(func() {
		c, _ := l.AcceptConn() // other threads of this VP run on
		_, _ = io.Copy(c, c)
		_ = c.Close()
	})
	c, _ := pio.Dial("tcp", l.Addr().String())
	fmt.Fprint(c, "hello")
	_, _ = c.Read(make([]byte, 5))
	fmt.Println(c.Close(), answer.Join(), l.Close())
	stop()
	// Output: <nil> <nil> <nil>
}

// An echo server, a thread per connection. Each blocks itself only; with the engine
// hooked to the scheduler, idle VPs look after all of them.
func Example_echoServer() {
	stop, err := pioman.Enable()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	marcel.Run(func() {
		l, err := pio.Listen("tcp", ":0") // loopback, a free port
		if err != nil {
			fmt.Println(err)
			return
		}
		server := marcel.Spawn(func() {
			for {
				c, err := l.AcceptConn()
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					fmt.Println(err)
					return
				}
				marcel.Spawn(func() {
					defer c.Close()
					_, _ = io.Copy(c, c)
				})
			}
		})

		c, err := pio.Dial("tcp", l.Addr().String())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, line := range []string{"one", "two"} {
			fmt.Fprintln(c, line)
			answer, err := bufio.NewReader(c).ReadString('\n')
			fmt.Print(answer)
			if err != nil {
				fmt.Println(err)
			}
		}
		_ = c.Close()
		_ = l.Close()
		_ = server.Join()
	})
	// Output:
	// one
	// two
}

// net/http on our listener: its handlers run on goroutines of its own.
func ExampleListen_http() {
	stop, err := pioman.Enable()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	l, err := pio.Listen("tcp", ":0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "you asked for %s", r.URL.Path)
	})}
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()

	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return pio.DialContext(ctx, network, address)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	answer, err := client.Get("http://" + l.Addr().String() + "/hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	fmt.Println(answer.Status, string(body))

	client.CloseIdleConnections()
	_ = server.Close()
	fmt.Println(<-ended)
	// Output:
	// 200 OK you asked for /hello
	// http: Server closed
}

// A deadline ends a read; Close from elsewhere would, too.
func ExampleConn_SetReadDeadline() {
	a, b, err := pio.SocketPair()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	defer a.Close()
	_ = a.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err = a.Read(make([]byte, 1))
	var ne net.Error
	fmt.Println(errors.As(err, &ne) && ne.Timeout())
	// Output: true
}

// A thread that reads a pipe waits; the thread that writes runs on the same VP.
func ExamplePipe() {
	stop, err := pioman.Enable()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	marcel.Run(func() {
		r, w, err := pio.Pipe()
		if err != nil {
			fmt.Println(err)
			return
		}
		reader := marcel.Spawn(func() {
			all, err := io.ReadAll(r)
			fmt.Println(string(all), err)
			_ = r.Close()
		})
		_, _ = w.Write([]byte("through the pipe"))
		_ = w.Close() // the reader's end
		_ = reader.Join()
	})
	// Output: through the pipe <nil>
}

// A descriptor that package os opened, read through the engine.
func ExampleWrapConn() {
	in, out, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := pio.WrapConn(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	_ = in.Close() // c has a descriptor of its own
	go func() {
		_, _ = out.Write([]byte("from package os"))
		_ = out.Close()
	}()
	all, err := io.ReadAll(c)
	fmt.Println(string(all), err)
	// Output: from package os <nil>
}
