"""The HTTP service: app.py wires it, cli.py and translate.py are the commands `serve` and `translate`."""
