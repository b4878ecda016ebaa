package lab

// treeSearch is E32.
var treeSearch = Experiment{Name: "E32", Iters: 1, Rounds: 1}
