// Package shelf has what many rooms keep alike: what is not in use (Free), and how many use something (Uses).
package shelf
