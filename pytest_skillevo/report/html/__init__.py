"""The report as one HTML file that opens from disk: no network, no script, nothing from outside."""

from .gate import gate_page
from .page import page

__all__ = ["gate_page", "page"]
