"""What the weights of the equations are called in published checkpoints, and which are stored side by side: data."""
