"""What people ask of judged items beyond the rate: which system, judge or cut is better."""
