"""GitHub Copilot: chat completions with headers of its own."""
