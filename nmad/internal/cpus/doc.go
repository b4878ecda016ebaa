// Package cpus lists the processors that this process may use, and divides them among the processes of a host. A
// launcher uses it to bind each child before the child starts; a process that another program has started, and not
// bound, uses it to bind itself.
//
//	all, _ := cpus.Usable()               // 0 2 1 3: by package, then by core
//	shares := cpus.Share(all, 2)          // 0 2 and 1 3; eight processes would share each processor in pairs
//	err := topo.CPUs(shares[index]...).BindProcess()
package cpus
