//go:build !linux

package region

import "errors"

// Memory is a region of this process. The zero value has none.
type Memory struct{ mem []byte }

// New makes a region.
func New(bytes int) (*Memory, error) { return &Memory{make([]byte, bytes)}, nil }

// Bytes is the region.
func (m *Memory) Bytes() []byte { return m.mem }

// Descriptor is -1: it cannot be given to another process.
func (m *Memory) Descriptor() int { return -1 }

// Forget does nothing.
func (m *Memory) Forget() {}

// Free lets go of the region.
func (m *Memory) Free() { m.mem = nil }

// View is the region of another process.
type View struct{}

// Map fails.
func Map(int) (*View, error) {
	return nil, errors.New("memory of other processes is mapped on Linux only")
}

// Bytes is empty.
func (*View) Bytes() []byte { return nil }

// Unmap does nothing.
func (*View) Unmap() {}
