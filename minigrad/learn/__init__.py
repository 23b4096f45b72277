"""The exercises: ``minigrad learn``. A learner's file runs in a process of its own, and what it answers is compared here."""
