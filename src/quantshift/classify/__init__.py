"""Room 4: a training set -> posteriors, out of fold on the training set, direct on a pool."""
