"""More pictures than memory holds: shards read from front to back, and windows of them."""
