"""The report as one HTML file that opens from disk: no network, no script, nothing from outside."""

from .page import page

__all__ = ["page"]
