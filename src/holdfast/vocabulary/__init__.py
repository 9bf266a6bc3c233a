"""The nouns everyone uses: calls, outcomes, accesses, errors, events, limits, scope."""
