"""OpenAI, or any server that speaks like it."""
