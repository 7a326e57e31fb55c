"""The simulators: ALFWorld and ScienceWorld."""
