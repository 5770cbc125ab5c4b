"""Words become numbers and events become blocks: the same bytes in one process and on Spark."""
