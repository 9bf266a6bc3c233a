"""Every test here runs on SQLite and on PostgreSQL."""

from tests.toolsets.databases import database_url, desk, shared_postgres

__all__ = ["database_url", "desk", "shared_postgres"]
