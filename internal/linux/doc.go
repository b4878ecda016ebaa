// Package linux is imported by the packages that are for Linux only. On other systems it does not compile: the build of
// such a package ends with one line that says why.
package linux
