"""Speed, memory and error over the history of the project; see README.rst."""
