"""Room 2: a corpus -> term counts, made once -> a tf-idf view for each training set."""
