package sched

// For the tests of package sched_test.
const IsDirect = isDirect
