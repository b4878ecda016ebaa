// Package names has a table of what users choose by its name: drivers, strategies. A name that is in no table gets an
// error with the names that are, and with the one that may have been meant.
//
//	var table = names.Table[Driver]{What: "driver", Unknown: errors.New("unknown driver")}
//	err := table.Register(d)     // by the init function of a driver's package
//	d, err := table.Lookup("tcp")
package names
