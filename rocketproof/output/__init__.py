"""Answers for people and for programs: terminal, JSON, JUnit, SARIF, and the files to which they are written."""
