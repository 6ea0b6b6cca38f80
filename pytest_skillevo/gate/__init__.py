"""The merge gate (`pytest --evolve-gate`): compares the working tree's skills with a reference and signs the result."""
