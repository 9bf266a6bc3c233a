"""The ways in."""
