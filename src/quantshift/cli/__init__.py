"""The command line: one thin module per verb. Everything it does can be done from Python too."""
