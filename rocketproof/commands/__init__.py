"""The commands: one module each, called by the command line with what the user asked for."""
