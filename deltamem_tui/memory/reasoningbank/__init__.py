"""ReasoningBank: lessons from every episode, recalled with the task that they were learnt at."""
