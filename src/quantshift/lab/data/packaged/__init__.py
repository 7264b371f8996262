"""Data sets in the files of other packages, which the extra `datasets` installs."""
