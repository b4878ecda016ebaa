// Package listener is the part that drivers share whose processes meet by connections. TCP and Abstract open a listener;
// Endpoint accepts connections at it, and yields a link for each process that belongs to the job. Package meet finds
// out which process that is.
package listener
