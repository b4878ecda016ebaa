// Package view lets the user of a program see what its threads do, by two variables of the environment:
//
//	observed, err := view.FromEnvironment()
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer observed.End()
//
//	PM2_STATS=/tmp/p.sock ./program     counters, at that socket: demo top --attach /tmp/p.sock
//	PM2_TRACE=/tmp/p.json ./program     a timeline, when the program ends: https://ui.perfetto.dev
//
// In a job of nmad the launcher gives each rank a socket of its own, and the timeline of rank N > 0 gets .N behind its name.
// Without the variables nothing is started and nothing costs anything.
package view
