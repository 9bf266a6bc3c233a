"""Search: what a provider is, SearXNG and Brave, and the order in which they are asked."""
