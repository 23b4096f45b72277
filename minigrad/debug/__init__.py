"""Watch a training program: which step goes wrong, at which line, and why."""
