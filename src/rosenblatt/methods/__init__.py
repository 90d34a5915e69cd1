"""Ways to learn: the state of each, the loop that trains it, and the weights that the state stands for."""
