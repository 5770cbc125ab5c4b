"""What an event and a recording are: kinds, fields, header, and what can become of a message."""
