"""AWM: workflows per kind of task, induced anew from all of its successes."""
