// Package vpset has sets of virtual processors (VPs), by index: with them a program says where a thread may run.
//
//	where := vpset.One(2) // marcel.OneVP(2) is the same
//	where.Set(3)
//	t := marcel.SpawnWith(marcel.Attr{VPs: where}, work) // on VP 2 or 3
package vpset
