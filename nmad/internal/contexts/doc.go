// Package contexts says which numbers of contexts the packages of the library reserve in the job's domain. A process
// that opens one of them fails if it is open already, so two packages never share a number. nmad/CONTEXTS.md says what
// a program may use.
package contexts
