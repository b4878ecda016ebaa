// Command measure runs what the pages claim: each command that stands in a column "command" of a table in docs/aims.md
// or README.md, once, one after the other.
//
//	go run ./test/measure -n                       # which commands there are, and the rows that name them
//	go run ./test/measure -out DIR -skip soak      # run all but the two hours of the soak
//	go run ./test/measure -out DIR -only 'E2[123]'
//
// A cell names whole commands in backticks: `demo ...` is the command of this tree, built once; what
// begins with go runs as it is written. DIR in a command stands for the folder in the environment's variable ARGOBOTS;
// without it the command is skipped. The output of each goes into a file of its own, beside index.json, which says what
// ran when, for how long, with which exit status, on which commit and machine. Exit status: 0 done, 1 a command failed,
// 2 wrong usage.
package main
