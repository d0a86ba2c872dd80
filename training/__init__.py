"""Captioned pictures to an encoder bundle: the only torch in the house."""
