// Package pool is an example to copy: a pool of tasks over the processes of a job, whose idle workers steal by
// one-sided access, so that a victim is never interrupted.
//
//	p, err := pool.Open(world, pool.Config{Workers: 1, TaskBytes: 8}) // all processes
//	w, err := p.Worker(0)                                           // by the thread that runs it
//	err = w.Push(task)                                              // such as of rank 0 alone
//	err = w.Run(ctx, func(task []byte) error { ... w.Push(more) ... }) // until no worker has any task
//	err = p.Close()                                                 // all processes
//
// Each worker keeps its tasks in its own memory, and puts the older half of them on a shelf, in memory that all
// processes reach, when the shelf is empty. An idle worker looks at the shelves of the others, locks one by a
// compare-and-swap, and takes half of it.
//
// A counter at rank 0 has how many workers are idle. An idle worker has no task, and its shelf is empty; a worker
// leaves the idle ones before it takes a task. So when all are idle there is no task, nor will there be one: each
// worker that reads so ends.
//
// A process that dies takes its tasks along, and perhaps the lock of a shelf: then Run of the others ends with an
// error, or with their context.
package pool
