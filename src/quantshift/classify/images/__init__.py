"""Classifiers of images, in PyTorch (the extra `neural`)."""
