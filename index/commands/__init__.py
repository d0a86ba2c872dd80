"""The command line: `passepartout encode` and `index ...`; what a command does is imported when it runs."""
