"""Run a command confined by the kernel, in a layer whose effects can be kept or dropped."""
