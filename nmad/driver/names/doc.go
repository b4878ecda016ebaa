// Package names keeps what users choose by its name: drivers, strategies.
package names
