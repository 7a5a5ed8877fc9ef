"""What of a conversation is worth remembering, by rules or by a model."""
