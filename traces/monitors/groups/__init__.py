"""The monitor by group: members, subscriptions, rebalance passes, and what each process does in order."""
