// Package table is an example to copy: a hash table over the memory of all processes of a job. It is looked up by
// one-sided access, which interrupts no process, and written by active messages to the process that has the entry.
//
//	t, err := table.Open(world, messages, table.Config{Slots: 1 << 16, ValueBytes: 8}) // all processes
//	err = t.Put(ctx, key, value)
//	found, err := t.Get(domain, key, value) // any thread, by a domain of its own
//	err = t.Close()                         // all processes
//
// A key belongs to a process and to a slot there, or to one of the next few slots. A slot has a version, the key and
// the value: version 0 is an empty slot, an odd one says that it is being written. The handlers of the process alone
// write, one at a time; a reader that finds an odd version, or another one after it has read, reads again. Nothing is
// deleted.
package table
