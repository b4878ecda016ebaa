// Package secret reads the secret of a job, in hexadecimal, that the environment of a process tells. It is never part of an
// error.
package secret
