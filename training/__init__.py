"""How the network of `PretrainedQuantifier` was trained; no part of the package.

python -m training.train --help

worlds     random causal models: columns, an outcome, and hidden variables
families   ways in which a sample may differ from the training items, one file each
tasks      worlds and families make tasks: training items, a sample, perhaps some labels
train      trains the network on an endless stream of tasks
"""
