// Package runtime tests whole programs against the Go runtime, under whose scheduler threads are switched: what package
// sched/direct does, behind marcel's interface, while the runtime collects, profiles, traces, dumps and stops the
// world; and programs built in each way there is.
//
//	go test ./test/runtime                      # some seconds of each
//	go test ./test/runtime -short               # without those that build programs
//	go test ./test/runtime -run Storm -storm 10m
//
// No test fails on time. The tests that build programs want the go command, and some a C compiler; they say what they
// miss.
//
// Package exercise has the work that is done in all of these programs.
package runtime
