"""What the methods' rules are made of: the writing that needs no model.

A *dialect* reads a domain's goals, actions and answers; on it stand a skill's procedure, the
facts of an environment, and whatever else a method writes without a model.
"""
