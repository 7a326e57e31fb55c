"""What a piece of work came to, put into data and text once, for every face."""
