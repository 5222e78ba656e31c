"""Speed and memory beside peers, measured in the same run; survival at full size."""
