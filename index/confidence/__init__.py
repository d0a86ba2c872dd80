"""confidence."""
