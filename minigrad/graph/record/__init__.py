"""The tape as plain data."""
