"""Running collected items as rollouts."""
