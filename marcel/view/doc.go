// Package view lets the user of a program see what its threads do, by two variables of the environment. Programs need
// not call anything: one that uses marcel reads them when its default scheduler starts. A program of goroutines alone
// starts none, and has neither unless it calls sched.Default.
//
//	PM2_STATS=/tmp/p.sock ./program     counters, at that socket: demo top --attach /tmp/p.sock
//	PM2_TRACE=/tmp/p.json ./program     a timeline in that file: https://ui.perfetto.dev
//
// Go tells no package that the program ends. So the file is written whenever something ends: a marcel.Run that was
// called from a goroutine, a session of nmad; and every two seconds in between, for programs that end elsewhere or are
// killed. Writing takes at most a twentieth of the time: what ends within 20 times what the write before took is left
// to the next one. The file is complete at any time, and has the newest 65536 events of each VP.
//
// If the socket or the file cannot be made, the package writes one line to standard error, and the program goes on
// without it. A program that is to have its timeline up to its last moment, or to end if the variables are wrong, asks
// for it itself:
//
//	observed, err := view.FromEnvironment()
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer observed.End()
//
// In a job, rank N has .N behind both paths. Schedulers other than the default one are not shown.
package view
