"""HTTP for all protocols: middleware, request bodies, problem documents, keys, the page."""
