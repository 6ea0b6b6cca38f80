"""The three stages of an experiment and what binds them: search, frozen confirmation, operational replay."""
