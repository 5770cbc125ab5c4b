"""Lessons about RocketMQ's consumption: to read, to run, and with exercises whose answers are verified."""
