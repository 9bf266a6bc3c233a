"""Anthropic: the messages API, by its SDK."""
