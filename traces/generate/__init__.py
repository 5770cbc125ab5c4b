"""Recordings of known truth, from two places: ``recorder`` writes down runs of the model, ``simulation`` is a cluster.

The simulation has a client and a broker of its own, in whose place runs of the model would be better. Tried twice, and
measured. What walks of the model have that the simulator has not: they write 35 of the 38 kinds of events (the
simulator 28: never in-memory offsets, what leaves a window, routes, changes of role, lost locks, local files), and 41
known bugs of the texts show in the traces of their counterexamples. They reach the sizes too: a random walk takes 300
to 5,800 steps a second, the recorder writes 18,000 events a second, and copies of 1,000 recorded events to other
groups, topics, clients and times are made and written as Parquet at 0.85 million events a second of a processor. Three
things they do not have:

* Large groups. The machine of a whole group with 4 consumers, 8 queues and 4 messages in each has 648 action instances
  and takes 110 steps a second; instances grow with consumers × queues × messages, so 16 consumers with 64 queues and as
  few messages would have 30 times as many, and 60,000 messages with hundreds of joins would take two days. A run has at
  most 6 consumers and 8 queues. Copies of it are many small groups, and cannot be put together to a large one: 7
  clients do not divide 64 queues as they divide 8 times 8.
* Periods. Machines have no clock: that a pass of rebalance, a periodic commit, an expiring lock and the delay of a
  level meet, which is what churn is about, is in no run. A walk that takes a step whenever it can does not do what a
  client does every 20 seconds: of the traces of walks over 32 configurations, led to rest, four claims about periods
  are violated, 21 times in all.
* Three claims of 39 hold in no walk, as nothing of theirs happens: ``every-topic-is-balanced``,
  ``nothing-after-the-dead-letter``, ``reset-is-followed``.

So the simulator stays for what needs size and time, and decides nothing that the model decides: allocation, delay
levels, levels of retries, who becomes a dead letter are functions of ``model/``, and timers are those of the claims.
"""
