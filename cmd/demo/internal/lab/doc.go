// Package lab reproduces the experiments of the papers that this project answers: TBD09 (Trahay, Brunet, Denis: "An
// analysis of the impact of multi-threading on communication performance", 2009), TD09 (Trahay, Denis: "A scalable and
// generic task scheduling system for communication libraries", 2009), D15 (Denis: "pioman: a pthread-based
// Multithreaded Communication Engine", 2015), MPI-MT (Mao, Song, Wu, Yang: FiTMPI) and IY14 (Ibrahim, Yelick: "On the
// conditions for efficient interoperability with threads", 2014).
//
// An [Experiment] has the number under which docs/experiments.md lists it, what was published, and a function that
// measures it. [All] lists them; demo experiment runs one.
//
// # How a figure is taken
//
// Variants are measured in turn, round after round, so that each comparison is of figures of the same minute; the
// core-to-core probe is read before each round, and only rounds of one regime of the machine (package probe) are
// counted, those of the regime that was met more often. Each round gives every variant a median, a 99th percentile and
// so on; a row shows the medians of these over the rounds. What a variant adds to its base is the median of the
// differences within the rounds.
//
// Two processes, one bound to each of two CPUs, where the paper has two (package duo). What needs more than that says
// in its row under what conditions it ran instead: one process, or oversubscribed. Nothing is simulated unless the row
// says so.
//
// What is compared with MPI libraries (crowd.go, overlap.go) has them measured in the same rounds, by C programs that
// test/peers compiles and starts (peerjob.go); what needs two hosts has network namespaces and a shaped link (package
// veth).
package lab
