"""Ollama: models on one's own machine, by its SDK."""
