package process

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestProcessCopies: however the two buffers lie, what is read from a process or written to it arrives, and nothing beside
// it changes; where memory ends, what lies before that has arrived.
func TestProcessCopies(t *testing.T) {
	p := &Memory{PID: os.Getpid()}
	if _, errno := p.Read(make([]byte, 1), AddressOf([]byte{1})); errno != 0 {
		t.Skip("this kernel lets no process read another one's memory: ", errno)
	}
	const page, most = 4096, 4*bounceSize + 4096
	// Two pieces of memory that begin a page, and whose next page is not there.
	var mem [2][]byte
	for i := range mem {
		m, err := unix.Mmap(-1, 0, most+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(m)
		if err := unix.Mprotect(m[most:], unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		mem[i] = m
	}
	for name, way := range map[string]func(to, from []byte) (int, syscall.Errno){
		"read":  func(to, from []byte) (int, syscall.Errno) { return p.Read(to, AddressOf(from)) },
		"write": func(to, from []byte) (int, syscall.Errno) { return p.Write(from, AddressOf(to)) },
	} {
		for _, ahead := range []int{0, 1, 15, 16, 64, page - 1} {
			for _, n := range []int{1, 5000, bounceSize, bounceSize + 1, 3*bounceSize + 77} {
				t.Run(fmt.Sprintf("%s %d bytes, %d ahead", name, n, ahead), func(t *testing.T) {
					from, room := mem[0][:n], mem[1][:most]
					for i := range from {
						from[i] = byte(n*7 + i)
					}
					clear(room)
					want := bytes.Clone(room)
					copy(want[ahead:], from)
					if k, errno := way(room[ahead:][:n], from); k != n || errno != 0 {
						t.Fatalf("%d, %v", k, errno)
					}
					if !bytes.Equal(room, want) {
						t.Error("other bytes than were sent, or some beside them")
					}
				})
			}
		}
	}
	// The last 100 bytes of theirs are not there.
	const n = 2 * bounceSize
	theirs := mem[0][most-n+100:][:n]
	in := (most - n + 100) % page
	for _, ahead := range []int{0, 1} {
		if k, errno := p.Read(mem[1][in+ahead:][:n], AddressOf(theirs)); errno != unix.EFAULT || k > n-100 || k < n-100-page {
			t.Errorf("%d ahead: %d bytes of %d were read, %v", ahead, k, n, errno)
		}
		if k, errno := p.Write(mem[1][in-ahead:][:n], AddressOf(theirs)); errno != unix.EFAULT || k > n-100 || k < n-100-page {
			t.Errorf("%d ahead: %d bytes of %d were written, %v", ahead, k, n, errno)
		}
	}
}
