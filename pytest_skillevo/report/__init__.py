"""What people and programs read of an experiment: end screen, progress, plan, and the JSON report."""
