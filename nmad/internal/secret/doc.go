// Package secret reads the secret of a job, which the environment of a process holds or names, in hexadecimal. No error
// of the package has any part of the secret.
package secret
