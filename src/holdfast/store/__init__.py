"""Rows in, rows out: what Holdfast remembers, on SQLite or PostgreSQL, in plain SQL."""
