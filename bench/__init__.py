"""Our figures beside the floors and the peers: `python -m bench`, or `make bench`."""
