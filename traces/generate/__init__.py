"""Recordings whose truth is known, from two sources: ``recorder`` writes runs of the model, ``simulation`` a simulated
cluster.

The simulation has a client and a broker of its own; replacing them by runs of the model would be better. This was tried
twice, and measured. Advantages of walks of the model over the simulator: they write 35 of the 38 kinds of events (the
simulator 28: never in-memory offsets, what leaves a window, routes, changes of role, lost locks, local files), and 41
known bugs of the texts show in the traces of their counterexamples. They also reach the size: a random walk takes 300
to 5,800 steps a second, the recorder writes 18,000 events a second, and copies of 1,000 recorded events to other
groups, topics, clients and times are made and written as Parquet at 0.85 million events a second of a processor. They
lack three things:

* Large groups. The machine of a whole group with 4 consumers, 8 queues and 4 messages in each has 648 action instances
  and takes 110 steps a second; instances grow with consumers × queues × messages, so 16 consumers with 64 queues and as
  few messages each would have 30 times as many, and 60,000 messages with hundreds of joins would take two days. A run
  has at most 6 consumers and 8 queues. Copies of it are many small groups, and cannot be combined into a large one: 7
  clients do not divide 64 queues as they divide 8 queues eight times.
* Periods. Machines have no clock, so no run shows how a rebalance pass, a periodic commit, an expiring lock and the
  delay of a level interact, which is what churn is about. A walk that takes a step whenever it can does not do what a
  client does every 20 seconds: in the traces of walks over 32 configurations that were led to rest, four claims
  about periods are violated, 21 times in all.
* Three of 39 claims hold in no walk, as nothing that they judge happens: ``every-topic-is-balanced``,
  ``nothing-after-the-dead-letter``, ``reset-is-followed``.

The simulator therefore remains, for what needs size and time, and decides nothing that the model decides: allocation,
delay levels, levels of retries and dead letters are functions of ``model/``, and timers are those of the claims.
"""
