"""The toolsets, one folder each; a tool is one file in it."""
