package plan

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// chunks returns the parts of b, which is cut into n parts, from part from on up to part to, which is not included.
func chunks(b datatype.Buffer, from, to, n int) datatype.Buffer {
	return b.Part(from*b.Count/n, to*b.Count/n-from*b.Count/n)
}
