// Command demo starts programs as jobs, and is the laboratory: each experiment is a command that prints a table, or
// writes JSON or CSV, and draws a figure.
//
//	to start programs
//	  go run ./cmd/demo run -n 4 -- ./program          a program of yours as a job
//	  go run ./cmd/demo run -n 8 --hosts hosts -- ...  on several hosts, over ssh
//	  go run ./cmd/demo explain-start                  what has started this process, and where the others are
//	to measure
//	  go run ./cmd/demo pingpong                       two processes, verified messages
//	  go run ./cmd/demo pingpong --driver tcp --engine explicit --plot tcp.svg
//	  go run ./cmd/demo bench                          threads beside goroutines
//	  go run ./cmd/demo fairness                       delays beside threads that never yield
//	  go run ./cmd/demo experiment E16 --plot e16.svg  an experiment of the papers
//	  go run ./cmd/demo nas cg --class A               a kernel of the NAS Parallel Benchmarks
//	  go run ./cmd/demo tune --save table.json         which algorithms collective operations take, as a job
//	to look inside
//	  go run ./cmd/demo top                            what VPs do, live
//	  go run ./cmd/demo trace --plot work.svg work     a timeline for Perfetto
//	  go run ./cmd/demo explain-progress               what is polled by which thread, where, how often, why
//	  go run ./cmd/demo explain-protocol               which message takes which protocol, and why
//	  go run ./cmd/demo topo --svg machine.svg         this machine's CPUs, and what they share
//	  go run ./cmd/demo topo --synthetic 'numa:4 l3:1 core:4 pu:1'
//	the flags of a command
//	  go run ./cmd/demo pingpong --help
//
// Results alone go to stdout; progress and warnings go to stderr. The flags, their help and their checks come from the
// structures whose names end in Command: command.go has the table of all, and most have a file of their own.
//
// # Exit status
//
//	0    done
//	1    failed while running: one line on stderr says what and why
//	2    wrong usage: one line on stderr says what was wrong and what would be right
//	130  interrupted (Ctrl-C), as shells expect of a program that ended by SIGINT;
//	     143 likewise by SIGTERM. Nothing stays behind in either case.
//
// run has further ones, those of the program it starts: see demo run --help.
//
// # Rooms
//
//	command.go, main.go   the command line, signals, exit status
//	internal/size         the grammar of sizes
//	internal/lab          the papers' experiments, E1 and so on; duo, taskqueue, uts are parts of them
//	internal/protocols    what explain-protocol says, and measures
//	internal/nas, ep      kernels of the NAS Parallel Benchmarks
//	internal/fromc        Go functions that C calls on threads of its own
//	internal/fairness     threads beside others that never yield
//	internal/pingpong     the ping-pong: two ranks, exchange, verification, statistics
//	internal/bench        rows beside their peers
//	internal/topology     machines as text and rows
//	internal/waiters      what explain-progress runs meanwhile
//	internal/workload     threads that do a bit of everything
//	internal/top          counters as a table
//	internal/veth         two hosts on one machine, and a shaped link between them
//	internal/report       table, JSON, CSV; the machine
//	internal/figure       plots, and pictures of machines
//	internal/progress     the bar
//	internal/probe        one cache line from core to core
//	internal/binding      which CPUs, and tying processes to them
//	internal/pattern      bytes that can be checked
package main
