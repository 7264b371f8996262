"""What protocols are made of: grids, pools, draws, strata."""
