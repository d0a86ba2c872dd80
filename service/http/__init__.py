"""HTTP for all protocols: middleware, request bodies, problem documents, keys, rates, the page, draining."""
