"""Small models that show remat-lint and remat-check at work."""
