"""Online review: a finished session, its outcome and the skills at hand become changes of skills, each explained.

signals → policy → Reviewer → reconcile → changes; all pure, the model of the Reviewer is given to it.
"""
