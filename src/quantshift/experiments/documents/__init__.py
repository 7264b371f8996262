"""Experiments as TOML documents."""
