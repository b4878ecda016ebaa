// Package listener has what the endpoints of drivers have in common whose processes meet by connections: Endpoint accepts
// connections and yields a link for each process that belongs to the job (package meet finds out which one it is);
// TCP and Abstract open the listener.
package listener
