"""Files, addresses and bytes: what an input names, and how it is cut into blocks of records."""
