package mpi

// Key is what a library keeps a value of its own under, at communicators: one for each Key and communicator. Several
// threads may use a Key at once.
type Key[T any] struct {
	copies  func(from *Comm, v T) (T, bool)
	deletes func(c *Comm, v T)
}

// NewKey returns a new Key. copies says what a Dup gets of the value, and false if it gets none; nil: it gets none.
// deletes is told when a value ends: by Delete, by another value in its place, or with Free; nil: it need not be
// told.
func NewKey[T any](copies func(from *Comm, v T) (T, bool), deletes func(c *Comm, v T)) *Key[T] {
	return &Key[T]{copies, deletes}
}

// Set keeps a value at c.
func (k *Key[T]) Set(c *Comm, v T) {
	k.replace(c, v, true)
}

// Delete ends the value at c, if there is one.
func (k *Key[T]) Delete(c *Comm) {
	var none T
	k.replace(c, none, false)
}

// Get returns the value at c, if there is one.
func (k *Key[T]) Get(c *Comm) (v T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.values[k].(T)
	return v, ok
}

func (k *Key[T]) replace(c *Comm, v T, some bool) {
	c.mu.Lock()
	was, had := c.values[k].(T)
	if some {
		if c.values == nil {
			c.values = map[anyKey]any{}
		}
		c.values[k] = v
	} else {
		delete(c.values, k)
	}
	c.mu.Unlock()
	if had && k.deletes != nil {
		k.deletes(c, was)
	}
}

// anyKey is a Key of any type.
type anyKey interface {
	inherit(from, to *Comm)
	end(c *Comm)
}

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

// attributes are the keys under which c has values.
func (c *Comm) attributes() (all []anyKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.values {
		all = append(all, k)
	}
	return all
}
