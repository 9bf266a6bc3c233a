"""Conversations with a model. For now: their rows and their numbered events."""
