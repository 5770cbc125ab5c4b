"""Engines that check the properties against the machine."""
