"""What must hold of the machine: one declaration a property."""
