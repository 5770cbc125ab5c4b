"""What a check has found, as files: one HTML page for people, and Parquet tables."""
