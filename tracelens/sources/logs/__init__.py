"""Session files of agents and recorded streams: a file is a conversation, a line a part of it."""
