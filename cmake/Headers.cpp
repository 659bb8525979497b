// Only headers are compiled here.
