"""The long suite (`make torture`): the faults of the catalogue, thousands of times or at their full size."""
