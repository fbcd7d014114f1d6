"""The networks of C2AE, how they are trained, and how training survives a kill.

PyTorch is asked for in ``training.py`` alone, and only when something is trained: fitted networks
are NumPy arrays and predict by NumPy.
"""
