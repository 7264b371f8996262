"""Room 5: posteriors -> prevalences. One method, one file; arrays in, arrays out."""
