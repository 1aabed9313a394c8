"""What explains, draws, checks and logs the work of a tape; imported when it is first asked for."""
