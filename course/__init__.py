"""The bench of the course: provider, scenarios, demo and command line. Learners do not edit it."""
