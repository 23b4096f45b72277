"""The user's program as text: an index of each file, which every part of minigrad that reads a program asks."""
