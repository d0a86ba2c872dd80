"""One way from a question to its answers, for HTTP, the command line, the client and benchmarks alike.

A request (request.py) is answered by translator.py: what the corpus itself translates (memory.py) and the
nearest sentences become one table of candidates (candidates.py), which get columns of evidence (evidence.py),
a confidence (index/confidence/models.py) and so the order of the answers (answer.py).
"""
