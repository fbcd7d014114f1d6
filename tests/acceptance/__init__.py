"""Real data, defaults only: the figures a newcomer would see."""
