"""The explorer: a configuration as one HTML page in which the model itself runs; runs as pictures."""
