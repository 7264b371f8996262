"""Room 14: the command line. One file per verb, thin: all it does Python can do too."""
