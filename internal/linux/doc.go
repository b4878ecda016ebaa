// Package linux is imported by the packages that are for Linux alone. Elsewhere it does not compile, so a build ends with one line
// that says so.
package linux
