"""Online review: a finished session, its outcome and the skills at hand become at most one change of one skill."""
