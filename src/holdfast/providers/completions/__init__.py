"""Chat completions: the wire format of OpenAI, Copilot and every compatible server. A format, not a provider."""
