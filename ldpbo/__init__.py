"""What `ldpbo_core` stands on (checks, posterior), and what stands on it."""
