// Package idle holds the library to its promise that waiting costs nothing: a process with nothing pending, or with
// only receives pending for a while, uses no CPU.
//
// The test starts itself again as a job of two processes, over each driver, with the engine on the scheduler's hooks or
// explicit, and lets both measure by getrusage what they use over five seconds: below one percent, on all their threads
// together. Afterwards the receives must still complete, so that a process that sleeps too deeply does not pass either.
//
// A measurement that is above the limit is repeated: what it measures is CPU time, not delay, but start and collector
// may spill into the first one.
package idle
