"""What all protocols share of HTTP: middleware, bodies, problem documents, keys, the page, draining."""
