"""How well an encoder translates: measures (numpy alone), suites that compute them, reports on them."""
