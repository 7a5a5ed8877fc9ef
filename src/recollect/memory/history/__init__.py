"""What changed when and why: by git, or by plain snapshots."""
