// Command forkjoin is the first program that README.md shows.
package main
