"""May this estimate be believed? Tests of the sample, from its unlabelled items alone."""
