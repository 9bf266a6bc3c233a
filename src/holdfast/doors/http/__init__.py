"""REST: every tool by one address, and the rows around them."""
