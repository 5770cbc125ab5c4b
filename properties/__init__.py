"""What must hold of the machine: one declaration for each property."""
