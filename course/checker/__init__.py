"""The checker: tests the learner's files and says in plain words what is done, what is open and what is wrong."""
