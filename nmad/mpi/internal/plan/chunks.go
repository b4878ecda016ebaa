package plan

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// chunks is the parts of n from one on, up to another one.
func chunks(b datatype.Buffer, from, to, n int) datatype.Buffer {
	return b.Part(from*b.Count/n, to*b.Count/n-from*b.Count/n)
}
