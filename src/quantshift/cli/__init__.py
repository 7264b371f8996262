"""The command line. One thin file per verb: everything it does can be done from Python too."""
