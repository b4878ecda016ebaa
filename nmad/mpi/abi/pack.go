//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// movePacked moves n bytes between elements and a packed buffer of size bytes at argument buffer. Argument
// position points to where in the buffer they begin: an int, or with wide a number of 64 bits. movePacked advances
// it by n.
func (a *cCall) movePacked(buffer, size, position, n int, wide bool, move func([]byte) error) error {
	read, write := a.ints, a.setInt
	if wide {
		read, write = a.addresses, a.setAint
	}
	at, err := read(position, 1)
	if err != nil {
		return err
	}
	b, err := a.packedBytes(buffer, size, at[0], n)
	if err != nil {
		return err
	}
	if err := move(b); err != nil {
		return err
	}
	return write(position, at[0]+n)
}

// packedBytes returns n bytes, from at on, of the packed buffer of size bytes at argument i.
func (a *cCall) packedBytes(i, size, at, n int) ([]byte, error) {
	if at < 0 || n < 0 || at > size-n {
		return nil, errorf(errArg, "%d B from %d on are not in a packed buffer of %d", n, at, size)
	}
	if n == 0 {
		return nil, nil // the address may be NULL
	}
	if a.word[i] == 0 {
		return nil, errorf(errBuffer, "argument %d is no address", i+1)
	}
	return memory(a.ptr(i), size)[at : at+n : at+n], nil
}

func (a *cCall) pack(b mpi.Buffer, size int, _ *cComm) error {
	return a.movePacked(3, size, 5, b.Size(), a.wide != 0, func(to []byte) error {
		b.Pack(0, to)
		return nil
	})
}

func (a *cCall) unpack(size int, b mpi.Buffer, _ *cComm) error {
	return a.movePacked(0, size, 2, b.Size(), a.wide != 0, func(from []byte) error {
		b.Unpack(0, from)
		return nil
	})
}

func (a *cCall) packSize(n elementCount, t *committed, _ *cComm) int { return n * t.typ.Size() }

// checkRepresentation refuses argument 0 unless it is external32.
func (a *cCall) checkRepresentation() error {
	s, err := a.string(0)
	if err == nil && s != "external32" {
		err = errorf(errArg, "%q is no representation: external32 is", s)
	}
	return err
}

func (a *cCall) packExternal(b mpi.Buffer, size int) error {
	if err := a.checkRepresentation(); err != nil {
		return err
	}
	return a.movePacked(4, size, 6, b.ExternalSize(), true, b.PackExternal)
}

func (a *cCall) unpackExternal(size int, b mpi.Buffer) error {
	if err := a.checkRepresentation(); err != nil {
		return err
	}
	return a.movePacked(1, size, 3, b.ExternalSize(), true, func(from []byte) error {
		b.UnpackExternal(from)
		return nil
	})
}

func (a *cCall) packExternalSize(n elementCount, t *committed) (int, error) {
	return n * t.typ.ExternalSize(), a.checkRepresentation()
}
