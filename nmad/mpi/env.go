package mpi

import "github.com/pm2-go/pm2/nmad"

// Environment lists the variables that this package reads, besides those of nmad.Environment.
var Environment = []nmad.Variable{
	{Name: EnvTable, Meaning: "from how many bytes on collective operations go another way", Values: "file that demo tune --save has written", Default: "none"},
	{Name: EnvCheck, Meaning: "collective operations are compared among the ranks before they begin", Values: "0, 1", Default: "0"},
	{Name: EnvOrder, Meaning: "in which order reductions combine their operands", Values: "ranks: from the last rank to the first, wherever they are; none", Default: "none"},
}
