"""The commands of `skillevo`, one module for each group."""
