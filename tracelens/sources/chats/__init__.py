"""Message lists: a record is a conversation."""
