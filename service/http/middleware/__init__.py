"""What every request passes on its way to a route, one piece of pure ASGI a file, the outermost first:
lingering_close, request_context, request_check, concurrency_limit, api_keys, rate_limit, time_limit,
body_limit.

A middleware knows scope, receive and send and nothing of the server, so any ASGI server will do.
"""
