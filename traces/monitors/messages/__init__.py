"""The monitor by message: attempts, delays, copies and dead letters of what failed."""
