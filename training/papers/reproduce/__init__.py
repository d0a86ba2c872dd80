"""A paper's experiments as one command: systems trained, measured and compared, within a budget of time."""
