"""Tools that explain, draw, check and log what a tape records; imported at the first use."""
