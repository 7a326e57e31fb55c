"""Memory of real work: typed facts of episodes, counted and handed out for the task at hand."""
