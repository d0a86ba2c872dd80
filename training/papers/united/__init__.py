"""What of the papers helps together: the recipes `best` and `united`, on five languages and on eleven."""
