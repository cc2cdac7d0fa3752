"""What statements mean once the types are known."""
