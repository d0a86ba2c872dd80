"""Your own pictures for `passepartout learn-language`, beside those of the bundle (index.teaching)."""
