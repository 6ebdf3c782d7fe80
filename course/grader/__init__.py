"""The grader: submissions that nobody trusts, judged by the course's own tests in a box of their own."""
