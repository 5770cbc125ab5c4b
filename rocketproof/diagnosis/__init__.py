"""Diagnosis: which known bug explains what the correct model cannot, in a recorded run.

``signs`` says what is wrong with a recording, ``pictures`` what each known bug looks like in recordings of the model
with the bug in it, ``candidates`` compares the two with each other and with the model, ``known`` says where a bug comes
from and what helps.
"""
