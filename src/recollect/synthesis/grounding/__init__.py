"""What a model wrote, checked against the events without a model."""
