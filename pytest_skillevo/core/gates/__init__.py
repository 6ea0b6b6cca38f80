"""Gates: what a revision must pass, and the redaction that shares their patterns."""
