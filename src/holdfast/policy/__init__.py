"""Pure decisions: whether a call may run. No clock, no disk, no network."""
