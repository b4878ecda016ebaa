// Package protocols explains which protocol a message takes, and measures the rails that decide it.
package protocols
