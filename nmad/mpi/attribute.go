package mpi

// Key names values that a library attaches to communicators: each communicator has at most one value for each Key. Any
// thread may call the methods at any time.
type Key[T any] struct {
	copies  func(from *Comm, v T) (T, bool)
	deletes func(c *Comm, v T)
}

// NewKey returns a new Key. copies returns the value that a Dup gets, from the original's, and false if it gets none;
// nil: it gets none. deletes is called with a value that ends: by Delete, by a Set in its place, or with Free; it may
// be nil.
func NewKey[T any](copies func(from *Comm, v T) (T, bool), deletes func(c *Comm, v T)) *Key[T] {
	return &Key[T]{copies, deletes}
}

// Set attaches a value to c.
func (k *Key[T]) Set(c *Comm, v T) {
	k.replace(c, v, true)
}

// Delete removes the value from c, if there is one.
func (k *Key[T]) Delete(c *Comm) {
	var zero T
	k.replace(c, zero, false)
}

// Get returns the value that c has, and whether it has one.
func (k *Key[T]) Get(c *Comm) (v T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.values[k].(T)
	return v, ok
}

// replace sets the value of c to v, or deletes it, and calls deletes with the value before.
func (k *Key[T]) replace(c *Comm, v T, set bool) {
	c.mu.Lock()
	old, had := c.values[k].(T)
	if set {
		if c.values == nil {
			c.values = map[anyKey]any{}
		}
		c.values[k] = v
	} else {
		delete(c.values, k)
	}
	c.mu.Unlock()
	if had && k.deletes != nil {
		k.deletes(c, old)
	}
}

// anyKey is a Key of any type.
type anyKey interface {
	inherit(from, to *Comm) // gives to, a Dup of from, its value
	end(c *Comm)            // deletes the value of c
}

// inherit is anyKey.inherit.
func (k *Key[T]) inherit(from, to *Comm) {
	v, ok := k.Get(from)
	if !ok || k.copies == nil {
		return
	}
	if v, ok = k.copies(from, v); ok {
		k.Set(to, v)
	}
}

func (k *Key[T]) end(c *Comm) { k.Delete(c) }

// attributes returns the keys for which c has values.
func (c *Comm) attributes() (all []anyKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.values {
		all = append(all, k)
	}
	return all
}
