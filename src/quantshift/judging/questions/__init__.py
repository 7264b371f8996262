"""What people ask about judged items beyond the rate: which system, judge or cut is better."""
