"""Finished sessions of any agent: what was said and called, when, by whom, and loaders for the formats that exist."""

from __future__ import annotations

from .loading import FORMATS, load_file, read_jsonl, read_session
from .records import Cursor, Event, Session, TaskOutcome

__all__ = ["FORMATS", "Cursor", "Event", "Session", "TaskOutcome", "load_file", "read_jsonl", "read_session"]
