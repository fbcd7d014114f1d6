"""The promises made to users: scikit-learn's checks, accepted inputs, refusals, fitted names."""
