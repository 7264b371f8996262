"""How a leaderboard is shown: one page with its data, and LaTeX tables."""
