"""Results of work, put into data and text once, for every face."""
