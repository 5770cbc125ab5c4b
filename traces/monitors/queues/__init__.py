"""The monitor by queue: who has it, what is pulled, delivered and stored, and why something comes again."""
