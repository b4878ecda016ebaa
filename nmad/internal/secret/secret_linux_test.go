package secret

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tells gives this process's environment a secret, and takes it and what was read of it back at the end.
func tells(t *testing.T, name, value string) {
	t.Helper()
	t.Setenv(name, value)
	was := told.secret
	t.Cleanup(func() { told.secret, told.partial = was, nil })
}

// Told ends with its context while the other end of the pipe in EnvFD stays open, and the next one goes on where it
// was.
func TestSecretFromAPipeThatStaysOpen(t *testing.T) {
	for _, nonblocking := range []bool{false, true} {
		var p [2]int
		if err := unix.Pipe(p[:]); err != nil {
			t.Fatal(err)
		}
		if err := unix.SetNonblock(p[0], nonblocking); err != nil {
			t.Fatal(err)
		}
		w := os.NewFile(uintptr(p[1]), "writer")
		tells(t, EnvFD, strconv.Itoa(p[0]))
		secret := bytes.Repeat([]byte{0x5a}, 32)
		text := hex.EncodeToString(secret)
		enough := errors.New("enough")
		for _, part := range []string{"", text[:10], ""} {
			if _, err := w.WriteString(part); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancelCause(context.Background())
			time.AfterFunc(time.Millisecond, func() { stop(enough) })
			if got, err := Told(ctx); !errors.Is(err, enough) {
				t.Fatalf("%x, %v", got, err)
			}
		}
		go func() { w.WriteString(text[10:]); w.Close() }()
		got, err := Told(t.Context())
		if err != nil || !bytes.Equal(got, secret) || os.Getenv(EnvFD) != "" {
			t.Fatalf("%x, %v, left in the environment: %q", got, err, os.Getenv(EnvFD))
		}
		if err := unix.Close(p[0]); err != unix.EBADF {
			t.Errorf("the descriptor stays open: %v", err)
		}
	}
}

// EnvFile may name a pipe that has no writer yet.
func TestSecretFromANamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secret")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	tells(t, EnvFile, name)
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	if s, err := Told(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%x, %v", s, err)
	}
	secret := bytes.Repeat([]byte{0xa5}, 16)
	go func() { _ = os.WriteFile(name, []byte(hex.EncodeToString(secret)+"\n"), 0o600) }()
	if got, err := Told(t.Context()); err != nil || !bytes.Equal(got, secret) {
		t.Fatalf("%x, %v", got, err)
	}
}

// A call that waits for its turn heeds its own context.
func TestSecretWhileAnotherCallReads(t *testing.T) {
	told.turn <- struct{}{}
	defer func() { <-told.turn }()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if s, err := Told(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("%x, %v", s, err)
	}
}
