// Command messages is the second program that README.md shows: two processes that compute while messages move.
package main
