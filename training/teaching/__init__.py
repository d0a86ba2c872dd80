"""`passepartout learn-language`: a finished encoder learns one more language, also from your own pictures."""
