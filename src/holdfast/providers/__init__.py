"""Models: what a provider is, one package for each, and how one is chosen."""

from .protocol import Model, Provider, Request

__all__ = ["Model", "Provider", "Request"]
