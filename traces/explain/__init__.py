"""What findings rest on, in RocketMQ's words: stories, drawings, reports."""
