// Package figure draws what the experiments measured, as SVG or PNG by the file's ending.
//
// [Latency] draws a ping-pong: one panel with the one-way latency (median as a
// line, minimum to 99th percentile as a band), one with the bandwidth, both
// against the size of the message on logarithmic axes. [Compare] draws ours and
// a peer's time side by side, one line for each row, whiskers from quartile to
// quartile, on one logarithmic axis, with the ratio in the margin. [Timeline] draws a
// part of a trace: a row for each VP, arrows for wakes, steals and messages.
//
// [Machine] draws a machine: boxes in boxes, caches as bars above those that share
// them, and a legend.
//
// A [File] is claimed before the measurement, so that a path that cannot be written is refused at once and not after
// minutes, and appears only when it is whole.
package figure
