"""Middleware that every request passes on its way to a route, one in each file. The outermost comes first:
lingering_close, request_context, request_check, concurrency_limit, api_keys, rate_limit, time_limit,
body_limit.

All of it is pure ASGI and knows nothing of the server, so any ASGI server will do.
"""
