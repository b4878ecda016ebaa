// Package contexts lists the numbers of contexts that the packages of the library reserve in the job's domain. The
// ranges are disjoint, so two packages never share a number; nmad.Domain.OpenContext fails for a number that is open
// already. nmad/CONTEXTS.md says which numbers a program may use.
package contexts
