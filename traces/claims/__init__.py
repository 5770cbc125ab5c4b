"""What must hold of a recording, on what evidence, and within which times."""
