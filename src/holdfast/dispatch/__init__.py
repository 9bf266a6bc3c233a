"""The one road that every call takes."""
