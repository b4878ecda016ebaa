package tasklet

// RaceEnabled is for the tests of package tasklet_test.
const RaceEnabled = raceEnabled
