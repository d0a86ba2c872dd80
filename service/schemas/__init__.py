"""What HTTP takes and gives besides translations (index/answers/), as pydantic models."""
