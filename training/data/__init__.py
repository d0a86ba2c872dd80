"""Pictures, captions and the samplers over them."""
