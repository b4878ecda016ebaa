// Package cpus tells which processors this process may use, and divides them among the processes of a host: for a
// launcher, which binds each child before it starts, and for a process that was started otherwise, and not bound, which
// binds itself.
//
//	all, _ := cpus.Usable()               0 2 1 3: by package, then by core
//	shares := cpus.Share(all, 2)          0 2 | 1 3; of eight processes two share each
//	err := topo.CPUs(shares[index]...).BindProcess()
package cpus
