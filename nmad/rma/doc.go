// Package rma gives the processes of a job one-sided access to each other's memory: put, get, atomics, and puts with a signal, without a call of the process whose memory it is.
//
//	job, err := nmad.Join(context.Background())
//	w, err := rma.Open(job)            // all processes
//	s, err := w.Alloc(1 << 20)         // all processes: a part each
//	d := w.Default()
//	next := (w.Rank() + 1) % w.Size()
//	err = d.PutSignal(s.At(next, 64), []byte("hello"), s.At(next, 0), rma.SignalAdd, 1)
//	_, err = d.WaitSignal(ctx, s.At(w.Rank(), 0), rma.GE, 1) // the bytes are there
//	fmt.Println(string(s.Bytes()[64:69]))
//	err = w.Close()                    // all processes
package rma
