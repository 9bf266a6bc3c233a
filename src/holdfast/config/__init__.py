"""Settings from the environment and files, as frozen nouns."""
